import { useQuery } from '@tanstack/react-query';
import { slowQueriesQuery } from '../../../api/service-settings.ts';
import type { Service } from '../../../api/types.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { formatNumber } from '../../../parts/format/format.ts';
import { Timestamp } from '../../../parts/format/timestamp.tsx';
import { EmptyState } from '../../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { type Column, DataTable } from '../../../parts/tables/data-table.tsx';
import classes from './logs.module.css';

type SlowQuery = Awaited<ReturnType<ReturnType<typeof useApi>['instanceSlowQueriesGet']>>['queries'][number];

/** The slowest queries of the last 24 hours. Reading them does not wake the service. */
export function SlowQueries({ service }: { service: Service }) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, refetch } = useQuery(slowQueriesQuery(api, organizationId, service.id));
  return (
    <Panel title="Slow queries, last 24 hours" flush>
      {error ? (
        <div className={classes.bar}>
          <ErrorNotice error={error} title="Could not load slow queries" retry={() => refetch()} />
        </div>
      ) : data && data.queries.length === 0 ? (
        <EmptyState title="No queries">
          {data.reason ?? 'The service has run no queries in the last 24 hours.'}
        </EmptyState>
      ) : (
        <DataTable
          label="Slow queries"
          columns={COLUMNS}
          rows={data?.queries}
          rowKey={({ startedAt, durationMs, query }) => `${startedAt} ${durationMs} ${query}`}
        />
      )}
    </Panel>
  );
}

const MEGABYTE = 1e6;

const COLUMNS: Column<SlowQuery>[] = [
  {
    header: 'Duration',
    align: 'right',
    width: 110,
    cell: ({ durationMs }) => `${formatNumber(durationMs)} ms`,
    sortBy: ({ durationMs }) => durationMs,
  },
  {
    header: 'Query',
    cell: ({ query, error }) => (
      <div className={classes.query}>
        <code>{query}</code>
        {error !== undefined && <div className={classes.failure}>{error}</div>}
      </div>
    ),
  },
  {
    header: 'Rows read',
    align: 'right',
    from: 'sm',
    cell: ({ readRows }) => formatNumber(readRows),
    sortBy: ({ readRows }) => readRows,
  },
  {
    header: 'Memory',
    align: 'right',
    from: 'sm',
    cell: ({ memoryBytes }) => `${formatNumber(Math.round(memoryBytes / MEGABYTE))} MB`,
    sortBy: ({ memoryBytes }) => memoryBytes,
  },
  {
    header: 'Started',
    from: 'md',
    cell: ({ startedAt }) => <Timestamp at={startedAt} />,
    sortBy: ({ startedAt }) => startedAt,
  },
];
