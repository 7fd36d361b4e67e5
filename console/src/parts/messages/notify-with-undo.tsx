import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';

/** Long enough to read the message and reach the button. */
const AUTO_CLOSE_MS = 15_000;

/** A confirmation with an Undo button. `undo` reports its own result. */
export function notifyWithUndo(message: string, undo: () => Promise<void>): void {
  const id = notifications.show({
    color: 'teal',
    autoClose: AUTO_CLOSE_MS,
    message: (
      <Group gap="sm" justify="space-between" wrap="nowrap">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {message}
        </Text>
        <Button
          size="compact-sm"
          variant="default"
          flex="none"
          onClick={() => {
            notifications.hide(id);
            void undo();
          }}
        >
          Undo
        </Button>
      </Group>
    ),
  });
}
