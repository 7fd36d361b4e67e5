import { Modal, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Session } from '../api/session.ts';
import { SignInForm } from '../pages/sign-in/sign-in-form.tsx';
import { useSession } from './context.tsx';

/** Shown over the page, so that nothing the user entered is lost. */
export default function SessionEnded() {
  const before = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const onSignedIn = async (session: Session) => {
    if (session.credential.id === before.credential.id) {
      await queries.invalidateQueries();
      return;
    }
    // Another credential must not see cached data of the previous one.
    queries.clear();
    await navigate({ to: '/' });
  };
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
      <Text size="sm" c="dimmed" mb="md">
        Your session has ended. Sign in to continue where you left off; nothing you entered is lost.
      </Text>
      <SignInForm onSignedIn={onSignedIn} />
    </Modal>
  );
}
