import { Button, Group, SegmentedControl, Skeleton, Text, TextInput, useComputedColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useApi, useSession } from '../../app/context.tsx';
import { assignColors } from '../../parts/colors.ts';
import { Credits } from '../../parts/credits.tsx';
import { dayOfMonth, lastOfMonth, toDay } from '../../parts/days.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { formatBillDay, plural } from '../../parts/format.ts';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useNow } from '../../parts/timestamp.tsx';
import { type Breakdown, createBreakdown, toCredits } from './breakdown.ts';
import { budgetsQuery } from './budget-draft.ts';
import { BudgetsPanel } from './budgets-panel.tsx';
import { CostChart } from './cost-chart.tsx';
import { CostLegend } from './cost-legend.tsx';
import { DayTable, GROUPING_LABELS, GroupTable } from './cost-tables.tsx';
import classes from './costs.module.css';
import { DownloadMenu } from './download-menu.tsx';
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
  const breakdown = useMemo(
    () => costs && createBreakdown(costs, listSpanDays({ from, to }), by),
    [costs, from, to, by],
  );
  const change = (next: CostsSearch) => void navigate({ search: next, resetScroll: false });
  const groupParam = by === 'metric' ? {} : { by };
  const pickDay = (part: { from?: string; to?: string }) => {
    const next = { ...span, ...part };
    if (next.from !== '' && next.to !== '' && next.from <= next.to) change({ ...next, ...groupParam });
  };
  return (
    <Page
      title="Costs"
      subtitle={`${formatBillDay(from)} – ${formatBillDay(to)} · ${plural(listSpanDays(span).length, 'day')} (UTC)`}
      actions={<DownloadMenu span={span} />}
    >
      <div className={classes.bar}>
        {COST_RANGES.map((range) => (
          <Button
            key={range}
            size="compact-sm"
            variant={search.from === undefined && (search.range ?? DEFAULT_RANGE) === range ? 'filled' : 'default'}
            onClick={() => change({ range, ...groupParam })}
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
            onChange={(value) => {
              const { by: _by, ...rest } = search;
              change(value === 'metric' ? rest : { ...rest, by: value as Grouping });
            }}
          />
        </Group>
      </div>
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
          by={by}
          onBrush={(first, last) => change({ from: first, to: last, ...groupParam })}
        />
      )}
      <BudgetsPanel />
    </Page>
  );
}

interface Props {
  breakdown: Breakdown;
  by: Grouping;
  onBrush: (from: string, to: string) => void;
}

function CostDetails({ breakdown, by, onBrush }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const isDark = useComputedColorScheme('light') === 'dark';
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const budgets = useQuery(budgetsQuery(api, organizationId)).data;
  const { groups, days, total, open, openDays } = breakdown;
  const colors = useMemo(() => {
    const chosen = assignColors(
      groups.map(({ label }) => label),
      isDark,
    );
    return new Map(groups.map(({ id }, index) => [id, chosen[index] ?? '']));
  }, [groups, isDark]);
  const toggle = (id: string) =>
    setHidden((before) =>
      before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id]),
    );
  return (
    <>
      <Panel title="Daily costs">
        <dl className={classes.figures}>
          <div>
            <dt>Total</dt>
            <dd>
              <Credits chc={toCredits(total)} />
            </dd>
          </div>
          <div>
            <dt>Daily average</dt>
            <dd>
              <Credits chc={toCredits(Math.round(total / days.length))} />
            </dd>
          </div>
          <div>
            <dt>Not final</dt>
            <dd>
              <Credits chc={toCredits(open)} />
            </dd>
          </div>
        </dl>
        <CostChart
          breakdown={breakdown}
          groups={groups.filter(({ id }) => !hidden.has(id))}
          colors={colors}
          budgets={(budgets ?? []).map(({ id, name, monthlyCHC }) => ({
            id,
            name,
            daily: days.map((day) => (monthlyCHC * 1_000_000) / dayOfMonth(lastOfMonth(day))),
          }))}
          onBrush={onBrush}
        />
        <CostLegend
          groups={groups}
          colors={colors}
          hidden={hidden}
          hasOpenDays={openDays.size > 0}
          budgets={budgets ?? []}
          onToggle={toggle}
        />
      </Panel>
      <Panel title={`By ${by}`} flush>
        <GroupTable breakdown={breakdown} by={by} />
      </Panel>
      <Panel title="By day" flush>
        <DayTable breakdown={breakdown} />
      </Panel>
    </>
  );
}
