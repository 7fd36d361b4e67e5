import { Button, Divider, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Session } from '../../api/session.ts';
import { useConfig } from '../../app/context.tsx';
import { ProviderButton } from './provider-button.tsx';
import { SignInForm } from './sign-in-form.tsx';

interface Props {
  /** The page of the console to open after a sign-in with the identity provider. */
  returnTo: string;
  isInNewTab?: boolean;
  onSignedIn: (session: Session) => Promise<void>;
}

/** The identity provider first; a key only if the server accepts keys. */
export function SignInOptions({ returnTo, isInNewTab = false, onSignedIn }: Props) {
  const { provider, allowsKeys, demo } = useConfig();
  const [showsKeys, setShowsKeys] = useState(false);
  if (!provider && !allowsKeys)
    return (
      <Text size="sm">
        This server does not accept keys in the console. Open an invitation link to sign in, or ask an administrator for
        a new one.
      </Text>
    );
  return (
    <Stack gap="md">
      {provider && <ProviderButton host={provider.host} returnTo={returnTo} isInNewTab={isInNewTab} />}
      {provider && allowsKeys && (demo || showsKeys) && <Divider label="or" />}
      {allowsKeys && (!provider || demo || showsKeys) && <SignInForm onSignedIn={onSignedIn} />}
      {provider && allowsKeys && !demo && !showsKeys && (
        <Button variant="subtle" color="gray" onClick={() => setShowsKeys(true)}>
          Use an API key
        </Button>
      )}
    </Stack>
  );
}
