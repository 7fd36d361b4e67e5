import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { formatError } from '../api/errors.ts';

interface Props {
  opened: boolean;
  title: string;
  /** Names the resource and describes the effect. */
  children: ReactNode;
  action: string;
  isDangerous?: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Confirms an action. Stays open and shows the error if the action fails. */
export function ConfirmDialog({ opened, title, children, action, isDangerous = false, onConfirm, onClose }: Props) {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const close = () => {
    setError(undefined);
    onClose();
  };
  const confirm = async () => {
    setIsBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(failure);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Modal opened={opened} onClose={close} title={title} centered>
      <Stack gap="md">
        <div style={{ overflowWrap: 'anywhere' }}>{children}</div>
        {error !== undefined && (
          <Text c="var(--ph-bad)" size="sm" role="alert">
            {formatError(error)}
          </Text>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close} data-autofocus>
            Cancel
          </Button>
          <Button {...(isDangerous ? { color: 'red.8' } : {})} loading={isBusy} onClick={confirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
