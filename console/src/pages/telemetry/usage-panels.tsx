import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useApi, useSession } from '../../app/context.tsx';
import { formatNumber, formatPercent } from '../../parts/format/format.ts';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import { type Signal, type Usage, usageQuery } from './queries.ts';
import type { Period } from './search.ts';
import classes from './telemetry.module.css';
import { formatBytes, formatService, SIGNAL_LABELS } from './words.ts';

interface LimitUse {
  signal: Signal;
  name: string;
  used: number;
  limit: number | null;
}
type Service = Usage['services'][number];
interface NotStored {
  signal: Signal;
  what: string;
  why: string;
  records: number;
  bytes: number;
}

/** How much of the limits is used and by which services, and what was not stored on purpose. */
export function UsagePanels({ period }: { period: Period }) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, refetch } = useQuery(usageQuery(api, organizationId, period));
  if (error && !data)
    return <ErrorNotice error={error} title="Could not load the use of telemetry" retry={() => refetch()} />;
  const notStored = data && listNotStored(data);
  return (
    <>
      <div className={classes.pair}>
        <Panel title="Limits" flush>
          <DataTable
            label="Limits of telemetry"
            columns={LIMIT_COLUMNS}
            rows={data && listLimits(data)}
            rowKey={({ signal, name }) => `${signal} ${name}`}
          />
          <Text size="xs" c="dimmed" className={classes.note}>
            Rows are those of the busiest minute in this time range; attribute keys and streams are those of today
            (UTC).
          </Text>
        </Panel>
        <Panel title="Services by size" flush>
          {data?.services.length === 0 ? (
            <Text size="sm" c="dimmed" className={classes.empty}>
              Nothing was accepted in this time range.
            </Text>
          ) : (
            <DataTable
              label="Services by size"
              columns={SERVICE_COLUMNS}
              rows={data?.services}
              rowKey={({ signal, serviceName }) => JSON.stringify([signal, serviceName])}
            />
          )}
        </Panel>
      </div>
      <Panel title="Dropped and removed" flush>
        {notStored?.length === 0 ? (
          <Text size="sm" c="dimmed" className={classes.empty}>
            No rule dropped a record, and no attribute was removed in this time range.
          </Text>
        ) : (
          <DataTable
            label="Dropped and removed"
            columns={DROP_COLUMNS}
            rows={notStored}
            rowKey={({ signal, what, why }) => JSON.stringify([signal, what, why])}
          />
        )}
      </Panel>
    </>
  );
}

function listLimits({ signals, limits }: Usage): LimitUse[] {
  return signals.flatMap(({ signal, peakRowsPerMinute, attributeKeysToday, streamsToday }) => [
    { signal, name: 'Rows per minute', used: peakRowsPerMinute, limit: limits[signal].rowsPerMinute },
    { signal, name: 'Attribute keys', used: attributeKeysToday, limit: limits[signal].attributeKeysPerDay },
    ...(streamsToday === undefined
      ? []
      : [{ signal, name: 'Streams', used: streamsToday, limit: limits.metrics.streamsPerDay }]),
  ]);
}

const listNotStored = ({ drops, removedAttributes }: Usage): NotStored[] => [
  ...drops.map(({ rule, ...counted }) => ({ what: rule, why: 'Rule', ...counted })),
  ...removedAttributes.map(({ key, ...counted }) => ({
    what: key === '' ? 'Further keys' : key,
    why: 'Attribute, too many keys',
    ...counted,
  })),
];

const LIMIT_COLUMNS: Column<LimitUse>[] = [
  {
    header: 'Limit',
    cell: ({ signal, name }) => (
      <>
        <span className={classes.signal}>{name}</span>
        <Text size="xs" c="dimmed">
          {SIGNAL_LABELS[signal]}
        </Text>
      </>
    ),
  },
  { header: 'Used', align: 'right', cell: ({ used }) => formatNumber(used) },
  {
    header: 'Limit value',
    align: 'right',
    from: 'sm',
    cell: ({ limit }) => (limit === null ? 'None' : formatNumber(limit)),
  },
  {
    header: 'Share',
    align: 'right',
    cell: ({ used, limit }) => (limit === null ? '' : formatPercent((used / limit) * 100)),
  },
];

const SERVICE_COLUMNS: Column<Service>[] = [
  {
    header: 'Service',
    sortBy: ({ serviceName }) => serviceName,
    cell: ({ serviceName, signal }) => (
      <>
        <span className={classes.name}>{formatService(serviceName)}</span>
        <Text size="xs" c="dimmed">
          {SIGNAL_LABELS[signal]}
        </Text>
      </>
    ),
  },
  {
    header: 'Rows',
    align: 'right',
    from: 'sm',
    sortBy: ({ records }) => records,
    cell: ({ records }) => formatNumber(records),
  },
  { header: 'Size', align: 'right', sortBy: ({ bytes }) => bytes, cell: ({ bytes }) => formatBytes(bytes) },
  { header: 'Share', align: 'right', sortBy: ({ share }) => share, cell: ({ share }) => formatPercent(share * 100) },
];

const DROP_COLUMNS: Column<NotStored>[] = [
  {
    header: 'What',
    sortBy: ({ what }) => what,
    cell: ({ what, why, signal }) => (
      <>
        <span className={classes.name}>{what}</span>
        <Text size="xs" c="dimmed">
          {why}, {SIGNAL_LABELS[signal]}
        </Text>
      </>
    ),
  },
  {
    header: 'Number',
    align: 'right',
    sortBy: ({ records }) => records,
    cell: ({ records }) => formatNumber(records),
  },
  { header: 'Size', align: 'right', from: 'sm', sortBy: ({ bytes }) => bytes, cell: ({ bytes }) => formatBytes(bytes) },
];
