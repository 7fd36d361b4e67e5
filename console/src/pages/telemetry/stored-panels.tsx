import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useApi, useSession } from '../../app/context.tsx';
import { formatNumber, formatPercent, plural } from '../../parts/format/format.ts';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import { type Storage, storageQuery } from './queries.ts';
import { RetentionPanel } from './retention-panel.tsx';
import classes from './telemetry.module.css';
import { formatBytes, RECORD_NAMES, SIGNAL_LABELS } from './words.ts';

type SignalStorage = Storage['signals'][number];
type AttributeKey = NonNullable<Storage['attributeKeys']>[number];

/** The rows that exist, how long they are kept, and which attributes take the space. */
export function StoredPanels() {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, refetch } = useQuery(storageQuery(api, organizationId));
  if (error && !data)
    return <ErrorNotice error={error} title="Could not load stored telemetry" retry={() => refetch()} />;
  return (
    <div className={classes.pair}>
      <div className={classes.column}>
        <Panel title="Stored" flush>
          <DataTable
            label="Stored telemetry"
            columns={SIGNAL_COLUMNS}
            rows={data?.signals}
            rowKey={(row) => row.signal}
          />
          <Text size="xs" c="dimmed" className={classes.note}>
            The size on disk is an estimate: tables are shared, and an organization has the share of the bytes that it
            has of the rows of each day.
          </Text>
        </Panel>
        <RetentionPanel />
      </div>
      <Panel title="Attributes by size" flush>
        {data && !data.attributeKeys?.length ? (
          <Text size="sm" c="dimmed" className={classes.empty}>
            {data.attributeKeys ? 'There are no attributes yet.' : 'There are too many rows to measure them in time.'}
          </Text>
        ) : (
          <DataTable
            label="Attributes by size"
            columns={KEY_COLUMNS}
            rows={data?.attributeKeys}
            rowKey={({ signal, place, key }) => JSON.stringify([signal, place, key])}
          />
        )}
        <Text size="xs" c="dimmed" className={classes.note}>
          Before compression, estimated from a sample of the rows. The share is of all bytes of the signal, and values
          are the different ones in the sample.
        </Text>
      </Panel>
    </div>
  );
}

const SIGNAL_COLUMNS: Column<SignalStorage>[] = [
  {
    header: 'Signal',
    cell: ({ signal, rows }) => (
      <>
        <span className={classes.signal}>{SIGNAL_LABELS[signal]}</span>
        <Text size="xs" c="dimmed" className={classes.onPhone}>
          {plural(rows, 'row')}
        </Text>
      </>
    ),
  },
  { header: 'Rows', align: 'right', from: 'sm', cell: ({ rows }) => formatNumber(rows) },
  {
    header: 'Size on disk',
    align: 'right',
    cell: ({ bytesOnDisk }) => (bytesOnDisk === undefined ? 'Unknown' : formatBytes(bytesOnDisk)),
  },
  {
    header: 'Oldest row',
    align: 'right',
    cell: ({ oldestAt }) => (oldestAt === null ? 'None' : <Timestamp at={oldestAt} show="ago" />),
  },
];

const KEY_COLUMNS: Column<AttributeKey>[] = [
  {
    header: 'Key',
    sortBy: ({ key }) => key,
    cell: ({ key, place, signal }) => (
      <>
        <span className={classes.key}>{key}</span>
        <Text size="xs" c="dimmed">
          {SIGNAL_LABELS[signal]}: {place === 'record' ? RECORD_NAMES[signal] : place} attribute
        </Text>
      </>
    ),
  },
  {
    header: 'Values',
    align: 'right',
    from: 'sm',
    sortBy: ({ distinctValues }) => distinctValues,
    cell: ({ distinctValues }) => formatNumber(distinctValues),
  },
  { header: 'Size', align: 'right', sortBy: ({ bytes }) => bytes, cell: ({ bytes }) => formatBytes(bytes) },
  { header: 'Share', align: 'right', sortBy: ({ share }) => share, cell: ({ share }) => formatPercent(share * 100) },
];
