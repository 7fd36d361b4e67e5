import { Anchor, Skeleton, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Credits } from '../../../parts/costs/credits.tsx';
import { toDay } from '../../../parts/format/days.ts';
import { formatBillDate } from '../../../parts/format/format.ts';
import { useNow } from '../../../parts/format/timestamp.tsx';
import { EmptyState } from '../../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { type Column, DataTable } from '../../../parts/tables/data-table.tsx';
import { toCredits } from '../breakdown.ts';
import classes from '../costs.module.css';
import { withSearch } from '../filters.ts';
import { formatMetric, toMetric } from '../metrics.ts';
import type { CostsSearch } from '../search.ts';
import type { Span } from '../span.ts';
import { ChangeAmount } from './change-amount.tsx';
import { type CostChange, listCostChanges } from './changes.ts';
import { canCompare, useCostComparison } from './use-cost-changes.ts';

const FIRST_ROWS = 10;

/** The costs by service and meter compared with the period before, the largest change first. */
export function ChangeTable({ span, search }: { span: Span; search: CostsSearch }) {
  const { data, error, refetch, isPlaceholderData } = useCostComparison(span);
  const today = toDay(useNow());
  const [isExpanded, setIsExpanded] = useState(false);
  if (!canCompare(span))
    return (
      <Panel title="Changes">
        <EmptyState title="No comparison">A comparison covers at most 400 days. Select a shorter period.</EmptyState>
      </Panel>
    );
  const changes = data && listCostChanges(data.rows, search);
  const previous = data?.totals.previous;
  return (
    <Panel
      title="Changes"
      flush
      aside={
        previous && (
          <Text size="sm" c="dimmed">
            Compared with {formatSpan(previous)}.{span.to >= today && ' Today is not complete yet.'}
          </Text>
        )
      }
    >
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load the comparison" retry={() => refetch()} />
      ) : !changes ? (
        <Skeleton height={14} m="md" w="auto" />
      ) : changes.length === 0 ? (
        <EmptyState title="No costs in either period" />
      ) : (
        <div className={classes.drillable} aria-busy={isPlaceholderData}>
          <DataTable
            label="Changes by service and meter"
            columns={createColumns(search)}
            rows={isExpanded ? changes : changes.slice(0, FIRST_ROWS)}
            rowKey={({ entityId, meter }) => `${entityId} ${meter}`}
          />
          {changes.length > FIRST_ROWS && (
            <Anchor component="button" type="button" size="sm" m="md" onClick={() => setIsExpanded(!isExpanded)}>
              {isExpanded ? `Show the ${FIRST_ROWS} largest changes` : `Show all ${changes.length} rows`}
            </Anchor>
          )}
        </div>
      )}
    </Panel>
  );
}

const formatSpan = ({ from, to }: Span): string =>
  from === to ? formatBillDate(from) : `${formatBillDate(from)} – ${formatBillDate(to)}`;

const createColumns = (search: CostsSearch): Column<CostChange>[] => [
  {
    header: 'Service and meter',
    cell: ({ entityId, entityName, meter }) => (
      <Link
        to="/costs"
        search={withSearch(search, { entity: entityId, metric: meter })}
        resetScroll={false}
        className={classes.drillLink}
      >
        <span className={classes.label}>{entityName || entityId.slice(0, 8)}</span>
        <Text span size="sm" c="dimmed">
          {' '}
          {formatMetric(toMetric(meter))}
        </Text>
      </Link>
    ),
  },
  {
    header: 'Previous',
    align: 'right',
    from: 'sm',
    cell: ({ previous }) => <Credits chc={toCredits(previous)} unit={false} />,
  },
  {
    header: 'CHC',
    align: 'right',
    from: 'sm',
    cell: ({ current }) => <Credits chc={toCredits(current)} unit={false} />,
  },
  { header: 'Change', align: 'right', cell: (row) => <ChangeAmount {...row} /> },
];
