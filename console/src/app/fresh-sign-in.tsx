import { Button, Modal, Stack, Text } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { ProviderButton } from '../pages/sign-in/provider-button.tsx';
import { useConfig, useDependencies } from './context.tsx';

/** For a change that needs a sign-in of the last minutes, such as deleting a service. */
export default function FreshSignIn() {
  const { sessions } = useDependencies();
  const { provider } = useConfig();
  const { href } = useLocation();
  return (
    <Modal opened onClose={sessions.dismissFreshSignIn} title="Sign in again to continue" centered>
      <Stack gap="md">
        <Text size="sm">
          This change needs a recent sign-in. Nothing has changed yet: you come back to this page afterwards, and can
          repeat it.
        </Text>
        {provider && <ProviderButton host={provider.host} returnTo={href} isFresh />}
        <Button variant="default" onClick={sessions.dismissFreshSignIn}>
          Cancel
        </Button>
      </Stack>
    </Modal>
  );
}
