import { Button, Group, SegmentedControl, Skeleton, Text, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { toDay } from '../../parts/format/days.ts';
import { formatBillDate, plural } from '../../parts/format/format.ts';
import { useNow } from '../../parts/format/timestamp.tsx';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { createBreakdown } from './breakdown.ts';
import { BudgetsPanel } from './budgets/budgets-panel.tsx';
import { CostDetails } from './cost-details.tsx';
import { GROUPING_LABELS } from './cost-tables.tsx';
import classes from './costs.module.css';
import { DownloadMenu } from './download-menu.tsx';
import { FilterChips } from './filter-chips.tsx';
import { filterCosts, hasFilters, withSearch } from './filters.ts';
import { COST_RANGES, type CostsSearch, GROUPINGS, type Grouping } from './search.ts';
import { DEFAULT_RANGE, listSpanDays, RANGE_LABELS, resolveSpan } from './span.ts';
import { useCosts } from './use-costs.ts';

const route = getRouteApi('/signed-in/costs');

export function CostsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const today = toDay(useNow());
  const span = resolveSpan(search, today);
  const by = search.by ?? 'metric';
  const { costs, error, retry } = useCosts(span);
  const [from, to] = [span.from, span.to];
  const { day, entity, warehouse, metric } = search;
  const breakdown = useMemo(() => {
    const filters = {
      ...(entity ? { entity } : {}),
      ...(warehouse ? { warehouse } : {}),
      ...(metric ? { metric } : {}),
    };
    return costs && createBreakdown(filterCosts(costs, filters), listSpanDays({ from, to }), by);
  }, [costs, from, to, by, entity, warehouse, metric]);
  const change = (part: { [Name in keyof CostsSearch]: CostsSearch[Name] | undefined }) =>
    void navigate({ search: withSearch(search, part), resetScroll: false });
  const changeSpan = (next: Pick<CostsSearch, 'range' | 'from' | 'to'>) =>
    change({ range: undefined, from: undefined, to: undefined, day: undefined, ...next });
  const pickDay = (part: { from?: string; to?: string }) => {
    const next = { ...span, ...part };
    if (next.from !== '' && next.to !== '' && next.from <= next.to) changeSpan(next);
  };
  return (
    <Page
      title="Costs"
      subtitle={`${formatBillDate(from)} – ${formatBillDate(to)} · ${plural(listSpanDays(span).length, 'day')} (UTC)`}
      actions={<DownloadMenu span={span} />}
    >
      <div className={classes.bar}>
        {COST_RANGES.map((range) => (
          <Button
            key={range}
            size="compact-sm"
            variant={search.from === undefined && (search.range ?? DEFAULT_RANGE) === range ? 'filled' : 'default'}
            onClick={() => changeSpan({ range })}
          >
            {RANGE_LABELS[range]}
          </Button>
        ))}
        <TextInput
          type="date"
          size="xs"
          aria-label="Start date"
          value={from}
          max={to}
          onChange={(event) => pickDay({ from: event.currentTarget.value })}
        />
        <TextInput
          type="date"
          size="xs"
          aria-label="End date"
          value={to}
          min={from}
          onChange={(event) => pickDay({ to: event.currentTarget.value })}
        />
        <Group gap="xs" wrap="nowrap">
          <Text size="sm" c="dimmed" component="span">
            Group by
          </Text>
          <SegmentedControl
            size="xs"
            aria-label="Group by"
            value={by}
            data={GROUPINGS.map((value) => ({ value, label: GROUPING_LABELS[value] }))}
            onChange={(value) => change({ by: value === 'metric' ? undefined : (value as Grouping) })}
          />
        </Group>
      </div>
      {hasFilters(search) && (
        <FilterChips
          filters={search}
          findRecord={(id) => costs?.find(({ entityId }) => entityId === id)}
          onRemove={(filter) => change({ [filter]: undefined })}
        />
      )}
      {error ? (
        <ErrorNotice error={error} title="Could not load costs" retry={retry} />
      ) : !breakdown ? (
        <Panel>
          <Skeleton height={420} />
        </Panel>
      ) : breakdown.total === 0 ? (
        <Panel>
          <EmptyState title="No costs in this period">New usage appears here within a minute.</EmptyState>
        </Panel>
      ) : (
        <CostDetails
          key={by}
          breakdown={breakdown}
          span={span}
          search={search}
          onBrush={(first, last) => changeSpan({ from: first, to: last })}
          onPick={(picked) => change({ day: picked === day ? undefined : picked })}
        />
      )}
      <div id="budgets">
        <BudgetsPanel />
      </div>
    </Page>
  );
}
