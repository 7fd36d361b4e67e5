import { Modal, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Session } from '../api/session.ts';
import { SignInForm } from '../pages/sign-in/sign-in-form.tsx';
import { useSession } from './context.tsx';

/** Over the page, which keeps everything that was typed. */
export default function SessionEnded() {
  const before = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const onSignedIn = async (session: Session) => {
    if (session.credential.id === before.credential.id) {
      await queries.invalidateQueries();
      return;
    }
    // Somebody else: nothing of what the other one saw may stay.
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
        Your session has ended. The page behind this stays as you left it, with everything you typed.
      </Text>
      <SignInForm onSignedIn={onSignedIn} />
    </Modal>
  );
}
