import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { formatError } from '../../api/errors.ts';

interface Props {
  opened: boolean;
  title: string;
  /** Names the resource and describes the effect. */
  children: ReactNode;
  action: string;
  isDangerous?: boolean;
  /** Has to be typed before the action can be chosen. */
  typedName?: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Confirms an action. Stays open and shows the error if the action fails. */
export function ConfirmDialog(props: Props) {
  const { opened, title, children, action, isDangerous = false, typedName, onConfirm, onClose } = props;
  const [typed, setTyped] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const close = () => {
    setError(undefined);
    setTyped('');
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
        {typedName !== undefined && (
          <TextInput
            label={`Type ${typedName} to confirm`}
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            data-autofocus
          />
        )}
        {error !== undefined && (
          <Text c="var(--ph-bad)" size="sm" role="alert">
            {formatError(error)}
          </Text>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close} data-autofocus={typedName === undefined || undefined}>
            Cancel
          </Button>
          <Button
            {...(isDangerous ? { color: 'red.8' } : {})}
            disabled={typedName !== undefined && typed.trim() !== typedName.trim()}
            loading={isBusy}
            onClick={confirm}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
