import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { formatError } from '../api/errors.ts';
import { ErrorNotice } from '../parts/layout/error-notice.tsx';
import { Note } from '../parts/layout/note.tsx';
import { SessionTable } from '../parts/sessions/session-table.tsx';
import { useApi, useDependencies, useSession } from './context.tsx';
import { openPage } from './open-page.ts';

/** The open sessions of the person or key that is signed in. */
export default function OwnSessions({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const { base } = useDependencies();
  const { organizationId, kind } = useSession();
  const { data, error, refetch } = useQuery({
    queryKey: [organizationId, 'own-sessions'],
    queryFn: ({ signal }) => api.consoleSessionGetList({}, { signal }),
    staleTime: 0,
  });
  const end = useMutation({
    mutationFn: (sessionId: string) => api.consoleSessionDelete({ sessionId }),
    onSettled: () => refetch(),
  });
  const endAll = useMutation({
    mutationFn: () => api.consoleSessionsDelete({}),
    onSuccess: () => openPage(base, '/sign-in'),
  });
  const failure = end.error ?? endAll.error;
  return (
    <Modal opened onClose={onClose} size="lg" title="Your sessions">
      <Stack gap="md">
        {error && !data ? (
          <ErrorNotice error={error} title="Could not load sessions" retry={() => refetch()} />
        ) : (
          <SessionTable sessions={data} onEnd={({ id }) => end.mutate(id)} />
        )}
        {failure && <Note tone="bad">{formatError(failure)}</Note>}
        {kind !== 'member' && (
          <Text size="sm" c="dimmed">
            All sessions that were opened with the same {kind === 'key' ? 'key' : 'token'}.
          </Text>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button color="red.8" loading={endAll.isPending || endAll.isSuccess} onClick={() => endAll.mutate()}>
            Sign out everywhere
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
