import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Alert } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { StatusText } from '../../parts/alerts/alert-state.tsx';
import { formatAlertValue, formatGroup } from '../../parts/alerts/alert-status.ts';
import { formatNumber } from '../../parts/format/format.ts';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import classes from './alerts.module.css';
import { groupsQuery } from './queries.ts';

const SHOWN = 100;

/** The groups of an alert with their states. An alert without groups has none to show. */
export function GroupTable({ alert }: { alert: Alert }) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, refetch } = useQuery(groupsQuery(api, organizationId, alert.id));
  if (error && !data)
    return (
      <Panel title="Groups">
        <ErrorNotice error={error} title="Could not load groups" retry={() => refetch()} />
      </Panel>
    );
  if (data && data.groupBy.length === 0) return null;
  return (
    <Panel title="Groups" flush>
      {data?.groups.length === 0 ? (
        <Text size="sm" c="dimmed" p="md" pt={0}>
          {alert.evaluatedUntil === undefined ? 'Not evaluated yet.' : 'The last window had no groups.'}
        </Text>
      ) : (
        <DataTable
          label="Groups"
          rows={data?.groups.slice(0, SHOWN)}
          rowKey={({ labels }) => JSON.stringify(labels)}
          columns={[
            { header: 'State', width: 150, cell: ({ status }) => <StatusText status={status} /> },
            {
              header: 'Group',
              cell: ({ labels }) => <span className={classes.text}>{formatGroup(labels) || '–'}</span>,
            },
            {
              header: 'Value',
              align: 'right',
              sortBy: ({ value }) => value,
              cell: ({ value }) => formatAlertValue(value),
            },
            { header: 'Since', from: 'sm', cell: ({ since }) => <Timestamp at={since} show="ago" /> },
            {
              header: 'Last sent',
              from: 'md',
              cell: ({ announcedAt }) => (announcedAt ? <Timestamp at={announcedAt} show="ago" /> : '–'),
            },
          ]}
        />
      )}
      {data && data.total > SHOWN && (
        <Text size="xs" c="dimmed" p="md">
          {formatNumber(SHOWN)} of {formatNumber(data.total)} groups, those that are not OK first.
        </Text>
      )}
    </Panel>
  );
}
