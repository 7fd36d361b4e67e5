import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { formatError } from '../../api/errors.ts';
import type { Member } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { SessionTable } from '../../parts/sessions/session-table.tsx';
import { memberSessionsQuery } from './queries.ts';

/** The open sessions of a member in this organization; an administrator can end them. */
export function MemberSessionsDialog({ target: member, onClose }: { target: Member; onClose: () => void }) {
  const api = useApi();
  const { organizationId } = useSession();
  const at = { organizationId, userId: member.userId };
  const { data, error, refetch } = useQuery(memberSessionsQuery(api, organizationId, member.userId));
  const end = useMutation({
    mutationFn: (sessionId: string | undefined) =>
      sessionId === undefined ? api.memberSessionsDelete(at) : api.memberSessionDelete({ ...at, sessionId }),
    onSettled: () => refetch(),
  });
  return (
    <Modal opened onClose={onClose} size="lg" title={`Sessions of ${member.name}`}>
      <Stack gap="md">
        {error && !data ? (
          <ErrorNotice error={error} title="Could not load sessions" retry={() => refetch()} />
        ) : data?.length === 0 ? (
          <Text>{member.name} is not signed in.</Text>
        ) : (
          <SessionTable sessions={data} onEnd={({ id }) => end.mutate(id)} />
        )}
        {end.error && <Note tone="bad">{formatError(end.error)}</Note>}
        <Text size="sm" c="dimmed">
          A session that is ended is rejected from the next request on. The member can sign in again.
        </Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button
            color="red.8"
            disabled={!data || data.length === 0}
            loading={end.isPending}
            onClick={() => end.mutate(undefined)}
          >
            End all sessions
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
