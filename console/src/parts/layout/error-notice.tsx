import { Button, Group, Text } from '@mantine/core';
import { ApiError, formatError } from '../../api/errors.ts';
import { Note } from './note.tsx';

/** An error with its request ID and an optional retry button. */
export function ErrorNotice({ error, title, retry }: { error: unknown; title: string; retry?: () => void }) {
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <Note tone="bad" title={title}>
      <Text size="sm">{formatError(error)}</Text>
      {(retry || requestId) && (
        <Group mt="xs" gap="md">
          {retry && (
            <Button size="xs" variant="default" onClick={retry}>
              Try again
            </Button>
          )}
          {requestId && (
            <Text size="xs" c="dimmed">
              Request ID: {requestId}
            </Text>
          )}
        </Group>
      )}
    </Note>
  );
}
