import { Modal, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ListSourceColumnsResult } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import { METRIC_TYPES, type MetricType, type Source } from './source-draft.ts';
import classes from './sources.module.css';

type SourceColumn = ListSourceColumnsResult[number];

const DAY_MS = 86_400_000;
const MAX_SHOWN = 20;

/** The columns of the table, with the keys of maps and the metrics of the last 24 hours. */
export function ColumnsDialog({ source, onClose }: { source: Source; onClose: () => void }) {
  const api = useApi();
  const { organizationId } = useSession();
  const types = METRIC_TYPES.filter(({ type }) => source.metricTables?.[type] !== undefined);
  const [type, setType] = useState<MetricType | undefined>(types[0]?.type);
  const { data, error, refetch } = useQuery({
    queryKey: [organizationId, 'columns', source.id, type, 'day'],
    queryFn: ({ signal }) => {
      const end = Date.now();
      const range = { start: String(end - DAY_MS), end: String(end) };
      return api.listSourceColumns({ id: source.id, ...range, metricDataType: type }, { signal });
    },
    staleTime: 60_000,
    retry: false,
  });
  return (
    <Modal opened onClose={onClose} size="xl" title={`Columns of ${source.name}`}>
      <Stack gap="md">
        {types.length > 0 && (
          <Select
            label="Type of metric"
            data={types.map(({ type: value, label }) => ({ value, label }))}
            value={type ?? null}
            allowDeselect={false}
            onChange={(value) => setType((value as MetricType | null) ?? undefined)}
          />
        )}
        {error ? (
          <ErrorNotice error={error} title="Could not read the columns" retry={() => refetch()} />
        ) : data?.length === 0 ? (
          <EmptyState title="No columns">The table does not exist yet.</EmptyState>
        ) : (
          <DataTable label="Columns" columns={COLUMNS} rows={data} rowKey={({ name }) => name} loadingRows={8} />
        )}
        <Text size="xs" c="dimmed">
          Keys and metrics are those of the last 24 hours.
        </Text>
      </Stack>
    </Modal>
  );
}

const COLUMNS: Column<SourceColumn>[] = [
  {
    header: 'Name',
    cell: ({ name, keys = [], values = [] }) => (
      <>
        <span className={classes.code}>{name}</span>
        <Contents texts={[...keys, ...values]} />
      </>
    ),
  },
  {
    header: 'Type',
    cell: ({ type }) => (
      <Text size="sm" c="dimmed" className={classes.type}>
        {type}
      </Text>
    ),
  },
];

function Contents({ texts }: { texts: readonly string[] }) {
  if (texts.length === 0) return null;
  const more = texts.length - MAX_SHOWN;
  return (
    <Text size="xs" c="dimmed" className={classes.contents} title={texts.join('\n')}>
      {texts.slice(0, MAX_SHOWN).join(', ')}
      {more > 0 && ` and ${more} more`}
    </Text>
  );
}
