import { Button, Divider, PasswordInput, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { type SubmitEvent, useState } from 'react';
import { ApiError, formatError } from '../../api/errors.ts';
import type { Credentials, Session } from '../../api/session.ts';
import { useConfig, useDependencies } from '../../app/context.tsx';
import { Note } from '../../parts/layout/note.tsx';

type Kind = 'key' | 'token';

/** The secret is sent once and never stored in the browser. The session is a cookie that scripts cannot read. */
export function SignInForm({ onSignedIn }: { onSignedIn: (session: Session) => Promise<void> }) {
  const { sessions } = useDependencies();
  const { demo, provider } = useConfig();
  const [kind, setKind] = useState<Kind>('key');
  const [keyId, setKeyId] = useState('');
  const [keySecret, setKeySecret] = useState('');
  const [token, setToken] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>();

  const signIn = async (credentials: Credentials) => {
    setIsBusy(true);
    setError(undefined);
    try {
      await onSignedIn(await sessions.signIn(credentials));
    } catch (failure) {
      setError(failure);
      setIsBusy(false);
    }
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void signIn(kind === 'key' ? { keyId: keyId.trim(), keySecret: keySecret.trim() } : { token: token.trim() });
  };

  return (
    <Stack gap="md">
      {demo && (
        <>
          <Button size="md" loading={isBusy} onClick={() => signIn(demo)} variant={provider ? 'default' : 'filled'}>
            Open the demo
          </Button>
          <Divider label="or sign in with your own key" />
        </>
      )}
      <form onSubmit={submit} aria-label="Sign in">
        <Stack gap="md">
          <SegmentedControl
            aria-label="Sign in with"
            fullWidth
            value={kind}
            onChange={(value) => setKind(value as Kind)}
            data={[
              { value: 'key', label: 'API key' },
              { value: 'token', label: 'Dashboard token' },
            ]}
          />
          {kind === 'key' ? (
            <>
              <TextInput
                label="Key ID"
                autoComplete="username"
                spellCheck={false}
                autoCapitalize="none"
                required
                value={keyId}
                onChange={(event) => setKeyId(event.currentTarget.value)}
              />
              <PasswordInput
                label="Key secret"
                autoComplete="current-password"
                required
                value={keySecret}
                onChange={(event) => setKeySecret(event.currentTarget.value)}
              />
            </>
          ) : (
            <PasswordInput
              label="Token"
              description="Grants access to dashboards only"
              autoComplete="off"
              required
              value={token}
              onChange={(event) => setToken(event.currentTarget.value)}
            />
          )}
          {error !== undefined && <Note tone="bad">{formatSignInError(error, kind)}</Note>}
          <Button type="submit" size="md" loading={isBusy} variant={demo || provider ? 'default' : 'filled'}>
            Sign in
          </Button>
        </Stack>
      </form>
    </Stack>
  );
}

function formatSignInError(error: unknown, kind: Kind): string {
  if (!(error instanceof ApiError) || error.status !== 401) return formatError(error);
  if (/not active/i.test(error.message)) return 'This key is disabled or has expired.';
  return kind === 'key' ? 'The key ID or secret is incorrect.' : 'The token is not valid.';
}
