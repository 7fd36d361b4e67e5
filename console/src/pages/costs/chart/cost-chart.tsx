import { useElementSize } from '@mantine/hooks';
import { type PointerEvent, useState } from 'react';
import { formatBillDay, formatCredits } from '../../../parts/format/format.ts';
import type { Breakdown, CostGroup } from '../breakdown.ts';
import { toCredits } from '../breakdown.ts';
import { listTicks, MARGIN, roundUpToTick } from './axis.ts';
import classes from './cost-chart.module.css';
import { CostTooltip } from './cost-tooltip.tsx';
import type { ScalingMark } from './scaling-marks.ts';

interface BudgetLine {
  id: string;
  name: string;
  /** The daily share of the budget for each day of the span, in micro-credits. */
  daily: number[];
}

interface Props {
  breakdown: Breakdown;
  /** The visible groups. */
  groups: readonly CostGroup[];
  colors: ReadonlyMap<string, string>;
  budgets: readonly BudgetLine[];
  /** The scaling changes of each day. */
  marks: ReadonlyMap<string, readonly ScalingMark[]>;
  /** The selected day. */
  selected: string | undefined;
  /** Days as YYYY-MM-DD, both inclusive. */
  onBrush: (from: string, to: string) => void;
  onPick: (day: string) => void;
}

const HEIGHT = 300;

/** One stacked bar per day, faded if the day is not locked. A click selects a day, dragging a range of days. */
export function CostChart(props: Props) {
  const { groups, colors, budgets, marks, selected, onBrush, onPick } = props;
  const { days, openDays } = props.breakdown;
  const { ref, width } = useElementSize();
  const [hovered, setHovered] = useState<number>();
  const [brush, setBrush] = useState<{ from: number; to: number }>();
  const sums = days.map((_, at) => groups.reduce((sum, group) => sum + (group.days[at] ?? 0), 0));
  const top = roundUpToTick(Math.max(...sums, ...budgets.flatMap(({ daily }) => daily), 1));
  const [inner, tall] = [Math.max(width - MARGIN.left - MARGIN.right, 1), HEIGHT - MARGIN.top - MARGIN.bottom];
  const step = inner / days.length;
  const gap = Math.min(step * 0.2, 4);
  const toY = (micros: number) => MARGIN.top + tall - (micros / top) * tall;
  const toX = (at: number) => MARGIN.left + at * step;
  const dayAt = (event: PointerEvent<SVGSVGElement>) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - MARGIN.left;
    return Math.min(days.length - 1, Math.max(0, Math.floor(x / step)));
  };
  /** `at` is the day under the pointer. Touch does not brush, because it scrolls the page. */
  const finish = (at: number) => {
    const range = brush ?? { from: at, to: at };
    const [from, to] = [days[Math.min(range.from, range.to)], days[Math.max(range.from, range.to)]];
    setBrush(undefined);
    if (from === undefined || to === undefined) return;
    if (from === to) onPick(from);
    else onBrush(from, to);
  };
  const labelInterval = Math.max(1, Math.ceil(days.length / Math.max(inner / 70, 1)));
  return (
    <div ref={ref} className={classes.chart}>
      {width > 0 && (
        <svg
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={`Daily costs, ${days.length} days. The table below lists the same values.`}
          data-testid="cost-chart"
          onPointerMove={(event) => {
            const at = dayAt(event);
            setHovered(at);
            if (brush) setBrush({ ...brush, to: at });
          }}
          onPointerDown={(event) => {
            if (event.pointerType === 'touch' || event.button !== 0) return;
            event.currentTarget.setPointerCapture(event.pointerId);
            setBrush({ from: dayAt(event), to: dayAt(event) });
          }}
          onPointerUp={(event) => event.button === 0 && finish(dayAt(event))}
          onPointerCancel={() => setBrush(undefined)}
          onPointerLeave={() => setHovered(undefined)}
        >
          {listTicks(top).map((mark) => (
            <g key={mark}>
              <line x1={MARGIN.left} x2={width - MARGIN.right} y1={toY(mark)} y2={toY(mark)} className={classes.line} />
              <text x={MARGIN.left - 8} y={toY(mark) + 4} textAnchor="end" className={classes.mark}>
                {formatCredits(toCredits(mark))}
              </text>
            </g>
          ))}
          {brush && brush.from !== brush.to && (
            <rect
              x={toX(Math.min(brush.from, brush.to))}
              y={MARGIN.top}
              width={(Math.abs(brush.to - brush.from) + 1) * step}
              height={tall}
              className={classes.brush}
            />
          )}
          {selected !== undefined && days.includes(selected) && (
            <rect
              x={toX(days.indexOf(selected))}
              y={MARGIN.top}
              width={step}
              height={tall}
              className={classes.selected}
              data-testid="selected-day"
            />
          )}
          {hovered !== undefined && !brush && (
            <rect x={toX(hovered)} y={MARGIN.top} width={step} height={tall} className={classes.hover} />
          )}
          {days.map((day, at) => {
            let below = 0;
            return (
              <g key={day} className={classes.day} data-day={day} data-open={openDays.has(day)}>
                {groups.map((group) => {
                  const micros = group.days[at] ?? 0;
                  if (micros <= 0) return null;
                  below += micros;
                  return (
                    <rect
                      key={group.id}
                      x={toX(at) + gap / 2}
                      y={toY(below)}
                      width={step - gap}
                      height={toY(0) - toY(micros)}
                      fill={colors.get(group.id)}
                    />
                  );
                })}
                {marks.has(day) && <ScalingMarker x={toX(at) + step / 2} day={day} marks={marks.get(day) ?? []} />}
                {at % labelInterval === 0 && (
                  <text x={toX(at) + step / 2} y={HEIGHT - 8} textAnchor="middle" className={classes.mark}>
                    {formatBillDay(day)}
                  </text>
                )}
              </g>
            );
          })}
          {budgets.map(({ id, name, daily }) => (
            <path
              key={id}
              className={classes.budget}
              data-testid="budget-line"
              d={daily.map((micros, at) => `${at === 0 ? 'M' : 'L'}${toX(at)},${toY(micros)}H${toX(at + 1)}`).join('')}
            >
              <title>{`Daily share of budget ${name}`}</title>
            </path>
          ))}
        </svg>
      )}
      {hovered !== undefined && !brush && days[hovered] && (
        <CostTooltip
          day={days[hovered]}
          isOpen={openDays.has(days[hovered])}
          rows={groups.map((group) => ({
            id: group.id,
            label: group.label,
            micros: group.days[hovered] ?? 0,
            color: colors.get(group.id) ?? '',
          }))}
          marks={marks.get(days[hovered]) ?? []}
          left={toX(hovered) + step / 2}
          width={width}
        />
      )}
    </div>
  );
}

/** A triangle above the bar. */
function ScalingMarker({ x, day, marks }: { x: number; day: string; marks: readonly ScalingMark[] }) {
  const [y, size] = [MARGIN.top - 10, 5];
  return (
    <path
      d={`M${x - size},${y}h${size * 2}l${-size},${size * 1.6}z`}
      className={classes.scaling}
      data-testid="scaling-mark"
      data-day={day}
    >
      <title>{marks.map(({ text }) => text).join('\n')}</title>
    </path>
  );
}
