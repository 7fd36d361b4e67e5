import { Modal, Stack, Text } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Session } from '../api/session.ts';
import { SignInOptions } from '../pages/sign-in/sign-in-options.tsx';
import { useConfig, useDependencies, useSession } from './context.tsx';

/** Shown over the page, so that nothing the user entered is lost. */
export default function SessionEnded() {
  const { sessions } = useDependencies();
  const { provider } = useConfig();
  const before = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const onSignedIn = async (session: Session) => {
    if (session.credential.id === before.credential.id && session.organization.id === before.organizationId) {
      await queries.invalidateQueries();
      return;
    }
    // Another credential must not see cached data of the previous one.
    queries.clear();
    await navigate({ to: '/' });
  };
  // A sign-in in another tab.
  useWindowEvent('focus', async () => {
    const isSignedIn = await sessions.renew().catch(() => false);
    const { session } = sessions.get();
    if (isSignedIn && session) await onSignedIn(session);
  });
  return (
    <Modal
      opened
      onClose={() => undefined}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title="Sign in again"
      centered
    >
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          Your session has ended. Sign in to continue where you left off; nothing you entered is lost.
          {provider && ' The sign-in opens in a new tab: come back to this one afterwards.'}
        </Text>
        <SignInOptions returnTo="/" isInNewTab onSignedIn={onSignedIn} />
      </Stack>
    </Modal>
  );
}
