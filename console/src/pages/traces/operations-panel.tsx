import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useApi, useSession } from '../../app/context.tsx';
import { formatNumber } from '../../parts/format/format.ts';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import type { TimeWindow } from '../dashboards/queries.ts';
import { addCondition, both } from './conditions.ts';
import { formatNs } from './durations.ts';
import { DEFAULT_SOURCE, type Operation, operationsQuery } from './queries.ts';
import { SamplingNote } from './sampling-note.tsx';
import type { TracesSearch } from './search.ts';
import classes from './traces.module.css';
import { useColumns } from './use-columns.ts';

interface Props {
  search: TracesSearch;
  window: TimeWindow;
  onChoose: (search: TracesSearch) => void;
}

/** Where time is spent: the operations with the most time of their own. */
export function OperationsPanel({ search, window, onChoose }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, isPlaceholderData, refetch } = useQuery(operationsQuery(api, organizationId, search, window));
  const columns = useColumns(search.source ?? DEFAULT_SOURCE);
  if (error) return <ErrorNotice error={error} title="Could not load operations" retry={() => refetch()} />;
  const operations = data?.operations;
  const total = (operations ?? []).reduce((sum, { selfTimeNs }) => sum + selfTimeNs, 0);
  const choose = ({ service, name }: Operation) => {
    const { view: _view, where: _where, lang: _lang, ...rest } = search;
    const condition = addCondition(search, (dialect) =>
      both(dialect.equals(columns.service, service), dialect.equals(columns.name, name)),
    );
    onChoose({ ...rest, ...condition });
  };
  return (
    <Panel flush>
      {data && <SamplingNote sampling={data.sampling} />}
      {operations?.length === 0 ? (
        <EmptyState title="No operations">No span in this time range matches.</EmptyState>
      ) : (
        <div className={classes.list} aria-busy={isPlaceholderData}>
          <DataTable
            label="Operations by self time"
            columns={createColumns(total, choose)}
            rows={operations}
            rowKey={({ service, name }) => JSON.stringify([service, name])}
            loadingRows={8}
          />
        </div>
      )}
      {data && data.totalOperations > data.operations.length && (
        <Text size="sm" c="dimmed" className={classes.note}>
          The {formatNumber(data.operations.length)} of {formatNumber(data.totalOperations)} operations with the most
          self time. Shares are those of the listed ones.
        </Text>
      )}
    </Panel>
  );
}

const createColumns = (totalNs: number, onChoose: (operation: Operation) => void): Column<Operation>[] => [
  {
    header: 'Operation',
    sortBy: ({ name }) => name,
    cell: ({ service, name }) => (
      <>
        <span className={classes.operation}>{name}</span>
        <Text size="xs" c="dimmed" className={classes.services}>
          {service}
        </Text>
      </>
    ),
  },
  {
    header: 'Self time',
    align: 'right',
    sortBy: ({ selfTimeNs }) => selfTimeNs,
    cell: ({ selfTimeNs }) => (
      <>
        <span className="ph-fixed">
          {formatNs(selfTimeNs)} ({totalNs === 0 ? 0 : Math.round((selfTimeNs / totalNs) * 100)}%)
        </span>
        <span className={classes.share} style={{ width: `${totalNs === 0 ? 0 : (selfTimeNs / totalNs) * 100}%` }} />
      </>
    ),
  },
  {
    header: 'Total',
    align: 'right',
    from: 'md',
    sortBy: ({ totalNs: sum }) => sum,
    cell: ({ totalNs: sum }) => <span className="ph-fixed">{formatNs(sum)}</span>,
  },
  {
    header: 'Spans',
    align: 'right',
    from: 'sm',
    sortBy: ({ count }) => count,
    cell: ({ count, errors }) => (
      <>
        {formatNumber(count)}
        {errors > 0 && (
          <Text size="xs" className={classes.bad}>
            {formatNumber(errors)} with error
          </Text>
        )}
      </>
    ),
  },
  {
    header: 'Median',
    align: 'right',
    from: 'md',
    sortBy: ({ p50Ns }) => p50Ns,
    cell: ({ p50Ns }) => <span className="ph-fixed">{formatNs(p50Ns)}</span>,
  },
  {
    header: '95th percentile',
    align: 'right',
    from: 'sm',
    sortBy: ({ p95Ns }) => p95Ns,
    cell: ({ p95Ns }) => <span className="ph-fixed">{formatNs(p95Ns)}</span>,
  },
  {
    header: 'Show traces',
    isHeaderHidden: true,
    align: 'right',
    cell: (operation) => (
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Traces with ${operation.service}: ${operation.name}`}
        onClick={() => onChoose(operation)}
      >
        Traces
      </Button>
    ),
  },
];
