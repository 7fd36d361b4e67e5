import { Button, SegmentedControl, Skeleton, TextInput, useComputedColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useApi, useSession } from '../../app/context.tsx';
import { coloursOf } from '../../parts/colours.ts';
import { Credits } from '../../parts/credits.tsx';
import { dayOf, lastOfMonth } from '../../parts/days.ts';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { Failure } from '../../parts/failure.tsx';
import { formatBillDay, plural } from '../../parts/format.ts';
import { useNow } from '../../parts/moment.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type Breakdown, breakdownOf, creditsOf } from './breakdown.ts';
import { budgetsQuery } from './budget-draft.ts';
import { BudgetsPanel } from './budgets-panel.tsx';
import { CostChart } from './cost-chart.tsx';
import { CostLegend } from './cost-legend.tsx';
import { DayTable, GROUPING_LABELS, GroupTable } from './cost-tables.tsx';
import classes from './costs.module.css';
import { DownloadMenu } from './download-menu.tsx';
import { COST_RANGES, type CostsSearch, GROUPINGS, type Grouping } from './search.ts';
import { DEFAULT_RANGE, daysOf, RANGE_LABELS, spanOf } from './span.ts';
import { useCosts } from './use-costs.ts';

const route = getRouteApi('/signed-in/costs');

export function CostsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const today = dayOf(useNow());
  const span = spanOf(search, today);
  const by = search.by ?? 'metric';
  const { costs, error, retry } = useCosts(span);
  const [from, to] = [span.from, span.to];
  const breakdown = useMemo(() => costs && breakdownOf(costs, daysOf({ from, to }), by), [costs, from, to, by]);
  const change = (next: CostsSearch) => void navigate({ search: next, resetScroll: false });
  const kept = by === 'metric' ? {} : { by };
  const pickDay = (part: { from?: string; to?: string }) => {
    const next = { ...span, ...part };
    if (next.from !== '' && next.to !== '' && next.from <= next.to) change({ ...next, ...kept });
  };
  return (
    <Page
      title="Costs"
      lead={`${formatBillDay(from)} to ${formatBillDay(to)}, ${plural(daysOf(span).length, 'day')} in UTC`}
      actions={<DownloadMenu span={span} />}
    >
      <div className={classes.bar}>
        {COST_RANGES.map((range) => (
          <Button
            key={range}
            size="compact-sm"
            variant={search.from === undefined && (search.range ?? DEFAULT_RANGE) === range ? 'filled' : 'default'}
            onClick={() => change({ range, ...kept })}
          >
            {RANGE_LABELS[range]}
          </Button>
        ))}
        <TextInput
          type="date"
          size="xs"
          aria-label="From"
          value={from}
          max={to}
          onChange={(event) => pickDay({ from: event.currentTarget.value })}
        />
        <TextInput
          type="date"
          size="xs"
          aria-label="To"
          value={to}
          min={from}
          onChange={(event) => pickDay({ to: event.currentTarget.value })}
        />
        <SegmentedControl
          size="xs"
          aria-label="Bars by"
          value={by}
          data={GROUPINGS.map((value) => ({ value, label: GROUPING_LABELS[value] }))}
          onChange={(value) => {
            const { by: _by, ...rest } = search;
            change(value === 'metric' ? rest : { ...rest, by: value as Grouping });
          }}
        />
      </div>
      {error ? (
        <Failure error={error} title="The costs are missing" retry={retry} />
      ) : !breakdown ? (
        <Panel>
          <Skeleton height={420} />
        </Panel>
      ) : breakdown.total === 0 ? (
        <Panel>
          <EmptyNote title="No costs in these days">Usage that arrives shows up here within a minute.</EmptyNote>
        </Panel>
      ) : (
        <CostsOf
          key={by}
          breakdown={breakdown}
          by={by}
          onBrush={(first, last) => change({ from: first, to: last, ...kept })}
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

function CostsOf({ breakdown, by, onBrush }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const isDark = useComputedColorScheme('light') === 'dark';
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const budgets = useQuery(budgetsQuery(api, organizationId)).data;
  const { groups, days, total, open, openDays } = breakdown;
  const colours = useMemo(() => {
    const chosen = coloursOf(
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
      <Panel title="Each day">
        <dl className={classes.figures}>
          <div>
            <dt>Together</dt>
            <dd>
              <Credits chc={creditsOf(total)} />
            </dd>
          </div>
          <div>
            <dt>A day, on average</dt>
            <dd>
              <Credits chc={creditsOf(Math.round(total / days.length))} />
            </dd>
          </div>
          <div>
            <dt>May still change</dt>
            <dd>
              <Credits chc={creditsOf(open)} />
            </dd>
          </div>
        </dl>
        <CostChart
          breakdown={breakdown}
          groups={groups.filter(({ id }) => !hidden.has(id))}
          colours={colours}
          budgets={(budgets ?? []).map(({ id, name, monthlyCHC }) => ({
            id,
            name,
            daily: days.map((day) => (monthlyCHC * 1_000_000) / Number(lastOfMonth(day).slice(8))),
          }))}
          onBrush={onBrush}
        />
        <CostLegend
          groups={groups}
          colours={colours}
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
