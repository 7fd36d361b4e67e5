import { Button, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { createSend } from '../../api/client.ts';
import { ApiError, formatError } from '../../api/errors.ts';
import { createOperations, type OpenInvitation, type Operations } from '../../api/generated.ts';
import { useConfig, useDependencies } from '../../app/context.tsx';
import { openPage } from '../../app/open-page.ts';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { ProviderButton } from '../sign-in/provider-button.tsx';
import classes from '../sign-in/sign-in.module.css';
import { SignInFrame } from '../sign-in/sign-in-page.tsx';

const NO_SESSION = {
  csrf: () => undefined,
  renew: async () => false,
  end: () => undefined,
  requireFreshSignIn: () => undefined,
};

/** The page that an invitation link opens. Its secret is the fragment of the URL; it does not stay in the address bar or the history. */
export function InvitationPage() {
  useDocumentTitle('Invitation · Pilothouse');
  const { base } = useDependencies();
  const { hash } = useLocation();
  const navigate = useNavigate();
  const [secret, setSecret] = useState(hash);
  // A rejected link is not the end of a session that this browser may have.
  const [api] = useState(() => createOperations(createSend(base, NO_SESSION)));
  useEffect(() => {
    if (hash === '') return;
    setSecret(hash);
    void navigate({ to: '/invitation', replace: true });
  }, [hash, navigate]);
  return (
    <SignInFrame>{secret === '' ? <NotValid /> : <Invitation key={secret} api={api} secret={secret} />}</SignInFrame>
  );
}

function Invitation({ api, secret }: { api: Operations; secret: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['invitation', secret],
    queryFn: ({ signal }) => api.consoleInvitationGet({ body: { secret } }, { signal }),
    refetchOnWindowFocus: false,
  });
  if (isNotValid(error)) return <NotValid />;
  if (error) return <ErrorNotice error={error} title="Could not load the invitation" retry={() => void refetch()} />;
  if (!data) return <Skeleton height={140} />;
  return (
    <Stack gap="md">
      <Stack gap={6}>
        <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
          Join {data.organizationName}
        </Title>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          This invitation is for <b>{data.email}</b>. It is valid until <Timestamp at={data.expireAt} />.
        </Text>
      </Stack>
      {data.needsProvider ? <ProviderSignIn invitation={data} /> : <Join api={api} secret={secret} invitation={data} />}
    </Stack>
  );
}

function ProviderSignIn({ invitation: { email } }: { invitation: OpenInvitation }) {
  const { provider } = useConfig();
  return (
    <>
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        Sign in with an account that has the verified address {email}.
      </Text>
      {provider && <ProviderButton host={provider.host} returnTo="/" />}
    </>
  );
}

function Join({ api, secret, invitation }: { api: Operations; secret: string; invitation: OpenInvitation }) {
  const { base } = useDependencies();
  const join = useMutation({
    mutationFn: () => api.consoleInvitationAccept({ body: { secret } }),
    onSuccess: () => openPage(base, '/'),
  });
  if (isNotValid(join.error)) return <NotValid />;
  return (
    <>
      {join.error && <Note tone="bad">{formatError(join.error)}</Note>}
      <Button
        size="md"
        fullWidth
        classNames={{ root: classes.wide, label: classes.wideLabel }}
        loading={join.isPending || join.isSuccess}
        onClick={() => join.mutate()}
      >
        Join {invitation.organizationName}
      </Button>
    </>
  );
}

const isNotValid = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

function NotValid() {
  return (
    <Note tone="bad" title="This invitation is not valid">
      <Text size="sm">It was used or deleted, or it has expired. Ask an administrator for a new one.</Text>
    </Note>
  );
}
