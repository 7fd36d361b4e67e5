import { Badge, Button, Group, Text } from '@mantine/core';
import type { SessionSummary } from '../../api/types.ts';
import { Timestamp } from '../format/timestamp.tsx';
import { type Column, DataTable } from '../tables/data-table.tsx';
import { formatBrowser } from './browser-name.ts';

type ListedSession = SessionSummary & { isCurrent?: boolean };

interface Props {
  sessions: readonly ListedSession[] | undefined;
  onEnd?: (session: ListedSession) => void;
}

/** Open sessions, newest first. The current one ends with the sign-out. */
export function SessionTable({ sessions, onEnd }: Props) {
  return (
    <DataTable
      label="Sessions"
      columns={createColumns(onEnd)}
      rows={sessions}
      rowKey={({ id }) => id}
      loadingRows={2}
    />
  );
}

function createColumns(onEnd: Props['onEnd']): Column<ListedSession>[] {
  const columns: Column<ListedSession>[] = [
    {
      header: 'Browser',
      cell: ({ userAgent, address, isCurrent }) => (
        <>
          <Group gap={8}>
            <span title={userAgent} style={{ overflowWrap: 'anywhere' }}>
              {formatBrowser(userAgent)}
            </span>
            {isCurrent && (
              <Badge variant="default" size="sm" tt="none" fw={500}>
                current
              </Badge>
            )}
          </Group>
          <Text size="xs" c="dimmed">
            {address ?? 'Unknown address'}
          </Text>
        </>
      ),
    },
    { header: 'Signed in', cell: ({ createdAt }) => <Timestamp at={createdAt} />, from: 'sm' },
    { header: 'Last seen', cell: ({ lastSeenAt }) => <Timestamp at={lastSeenAt} show="ago" /> },
  ];
  if (onEnd)
    columns.push({
      header: 'End',
      isHeaderHidden: true,
      align: 'right',
      cell: (session) =>
        !session.isCurrent && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`End the session in ${formatBrowser(session.userAgent)} from ${session.address ?? 'an unknown address'}`}
            onClick={() => onEnd(session)}
          >
            End
          </Button>
        ),
    });
  return columns;
}
