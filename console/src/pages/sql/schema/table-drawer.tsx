import { Drawer, Skeleton, Stack, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { formatNumber, plural } from '../../../parts/format/format.ts';
import { CopyIconButton } from '../../../parts/forms/copy-button.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { type Column, DataTable } from '../../../parts/tables/data-table.tsx';
import { ScrollRegion } from '../../../parts/tables/scroll-region.tsx';
import { formatBytes } from '../../telemetry/words.ts';
import classes from '../sql.module.css';
import { type Reader, type TableFacts, type TableSummary, tableQuery } from './schema.ts';

interface Props {
  reader: Reader;
  table: TableSummary;
  onClose: () => void;
}

/** The definition of a table, its columns with their compression, and its parts. */
export function TableDrawer({ reader, table, onClose }: Props) {
  const { database, name, engine, rows, bytes } = table;
  const { data, error, refetch } = useQuery(tableQuery(reader, database, name));
  return (
    <Drawer
      opened
      onClose={onClose}
      title={`${database}.${name}`}
      position="right"
      size="xl"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Text size="sm" c="dimmed" mb="sm">
        {[engine, rows === undefined ? [] : plural(rows, 'row'), bytes === undefined ? [] : formatBytes(bytes)]
          .flat()
          .join(', ')}
      </Text>
      {error ? (
        <ErrorNotice error={error} title="Could not read the table" retry={() => refetch()} />
      ) : data === undefined ? (
        <Stack>
          <Skeleton height={24} />
          <Skeleton height={200} />
        </Stack>
      ) : (
        <Tabs defaultValue="columns" keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="columns">Columns</Tabs.Tab>
            <Tabs.Tab value="parts">Parts</Tabs.Tab>
            <Tabs.Tab value="definition">Definition</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="columns" pt="sm">
            <DataTable label="Columns" columns={COLUMNS} rows={data.columns} rowKey={(column) => column.name} />
            {data.parts.length > 0 && data.columns.every(({ compressedBytes }) => compressedBytes === 0) && (
              <Text size="sm" c="dimmed" mt="sm">
                All parts are compact: the sizes of their columns are not known.
              </Text>
            )}
          </Tabs.Panel>
          <Tabs.Panel value="parts" pt="sm">
            {data.parts.length === 0 ? (
              <Text size="sm" c="dimmed">
                This table has no parts.
              </Text>
            ) : (
              <DataTable label="Parts" columns={PARTS} rows={data.parts} rowKey={(part) => part.name} />
            )}
          </Tabs.Panel>
          <Tabs.Panel value="definition" pt="sm">
            <CopyIconButton value={data.definition} label="Copy definition" />
            <ScrollRegion className={classes.definition} aria-label="Definition">
              {data.definition}
            </ScrollRegion>
          </Tabs.Panel>
        </Tabs>
      )}
    </Drawer>
  );
}

const COLUMNS: Column<TableFacts['columns'][number]>[] = [
  {
    header: 'Column',
    sortBy: ({ name }) => name,
    cell: ({ name, type, keys, codec, comment }) => (
      <>
        {name} <span className={classes.type}>{type}</span>
        <div className={classes.facts}>
          {[keys === '' ? [] : `In the key: ${keys}`, codec === '' ? [] : codec, comment === '' ? [] : comment]
            .flat()
            .join('. ')}
        </div>
      </>
    ),
  },
  {
    header: 'Size',
    align: 'right',
    sortBy: ({ compressedBytes }) => compressedBytes,
    cell: ({ compressedBytes }) => formatSize(compressedBytes),
  },
  {
    header: 'Uncompressed',
    align: 'right',
    from: 'sm',
    sortBy: ({ uncompressedBytes }) => uncompressedBytes,
    cell: ({ uncompressedBytes }) => formatSize(uncompressedBytes),
  },
  {
    header: 'Ratio',
    align: 'right',
    from: 'sm',
    sortBy: (column) => getRatio(column),
    cell: (column) => {
      const ratio = getRatio(column);
      return ratio === undefined ? '–' : `${formatNumber(Math.round(ratio * 10) / 10)}×`;
    },
  },
];

/** Columns of compact parts have no size of their own. */
const formatSize = (bytes: number): string => (bytes === 0 ? '–' : formatBytes(bytes));

function getRatio({ compressedBytes, uncompressedBytes }: TableFacts['columns'][number]): number | undefined {
  return compressedBytes === 0 ? undefined : uncompressedBytes / compressedBytes;
}

const PARTS: Column<TableFacts['parts'][number]>[] = [
  { header: 'Part', sortBy: ({ name }) => name, cell: ({ name }) => <code>{name}</code> },
  { header: 'Partition', from: 'sm', sortBy: ({ partition }) => partition, cell: ({ partition }) => partition },
  { header: 'Rows', align: 'right', sortBy: ({ rows }) => rows, cell: ({ rows }) => formatNumber(rows) },
  { header: 'Size', align: 'right', sortBy: ({ bytes }) => bytes, cell: ({ bytes }) => formatBytes(bytes) },
  { header: 'Changed', from: 'md', sortBy: ({ changedAt }) => changedAt, cell: ({ changedAt }) => changedAt },
];
