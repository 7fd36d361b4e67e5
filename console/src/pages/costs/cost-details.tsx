import { useComputedColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useApi, useSession } from '../../app/context.tsx';
import { budgetsQuery } from '../../parts/costs/budgets.ts';
import { assignColors } from '../../parts/costs/colors.ts';
import { dayOfMonth, lastOfMonth } from '../../parts/format/days.ts';
import { formatBillDate } from '../../parts/format/format.ts';
import { Panel } from '../../parts/layout/panel.tsx';
import { type Breakdown, pickDay } from './breakdown.ts';
import { ChangeTable } from './changes/change-table.tsx';
import { CostChart } from './chart/cost-chart.tsx';
import { CostLegend } from './chart/cost-legend.tsx';
import { useScalingMarks } from './chart/scaling-marks.ts';
import { CostFigures } from './cost-figures.tsx';
import { DayTable, GroupTable } from './cost-tables.tsx';
import classes from './costs.module.css';
import { getMetricColor } from './metrics.ts';
import type { CostsSearch } from './search.ts';
import type { Span } from './span.ts';

interface Props {
  breakdown: Breakdown;
  span: Span;
  search: CostsSearch;
  onBrush: (from: string, to: string) => void;
  onPick: (day: string) => void;
}

/** The chart of the whole span, and tables of the span or of the selected day. */
export function CostDetails({ breakdown, span, search, onBrush, onPick }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const isDark = useComputedColorScheme('light') === 'dark';
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const budgets = useQuery(budgetsQuery(api, organizationId)).data ?? [];
  const marks = useScalingMarks(span, search.entity);
  const { by = 'metric' } = search;
  const { groups, days, openDays } = breakdown;
  const day = search.day !== undefined && days.includes(search.day) ? search.day : undefined;
  const shown = day === undefined ? breakdown : pickDay(breakdown, day);
  const shownSpan = day === undefined ? span : { from: day, to: day };
  const colors = useMemo(() => {
    const chosen = assignColors(
      groups.map(({ label }) => label),
      isDark,
    );
    return new Map(
      groups.map(({ id }, index) => [id, by === 'metric' ? getMetricColor(id, isDark) : (chosen[index] ?? '')]),
    );
  }, [groups, by, isDark]);
  const toggle = (id: string) =>
    setHidden((before) =>
      before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id]),
    );
  const suffix = day === undefined ? '' : `, ${formatBillDate(day)}`;
  return (
    <>
      <Panel title="Daily costs">
        <CostFigures breakdown={shown} span={shownSpan} search={search} />
        <CostChart
          breakdown={breakdown}
          groups={groups.filter(({ id }) => !hidden.has(id))}
          colors={colors}
          budgets={budgets.map(({ id, name, monthlyCHC }) => ({
            id,
            name,
            daily: days.map((one) => (monthlyCHC * 1_000_000) / dayOfMonth(lastOfMonth(one))),
          }))}
          marks={marks}
          selected={day}
          onBrush={onBrush}
          onPick={onPick}
        />
        <CostLegend
          groups={groups}
          colors={colors}
          hidden={hidden}
          hasOpenDays={openDays.size > 0}
          hasMarks={days.some((one) => marks.has(one))}
          budgets={budgets}
          onToggle={toggle}
        />
      </Panel>
      {day !== undefined && marks.has(day) && (
        <Panel title={`Scaling changes${suffix}`}>
          <ul className={classes.marks}>
            {marks.get(day)?.map(({ id, text }) => (
              <li key={id}>{text}</li>
            ))}
          </ul>
        </Panel>
      )}
      <ChangeTable span={shownSpan} search={search} />
      <Panel title={`By ${by}${suffix}`} flush>
        <GroupTable breakdown={shown} by={by} search={search} />
      </Panel>
      <Panel title="By day" flush>
        <DayTable breakdown={breakdown} search={search} marks={marks} />
      </Panel>
    </>
  );
}
