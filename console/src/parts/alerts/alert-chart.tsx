import { useElementSize } from '@mantine/hooks';
import { type PointerEvent, useMemo, useState } from 'react';
import { formatAxisLabels, formatDateTime } from '../format/times.ts';
import classes from './alert-chart.module.css';
import { formatAlertValue, STATUS_LABELS, STATUSES } from './alert-status.ts';
import {
  type ChartPoint,
  type ChartThreshold,
  computeRange,
  listBands,
  listFiringRanges,
  listLines,
  listTicks,
  listTimeTicks,
} from './chart-scale.ts';

interface Props {
  /** Accessible name. */
  label: string;
  /** Oldest first. */
  points: readonly ChartPoint[];
  threshold: ChartThreshold;
  /** Epoch milliseconds. */
  start: number;
  end: number;
}

const SPACE = { top: 8, right: 20, bottom: 38, left: 58 };
const BAND = { height: 8, below: 6 };
const Y_TICKS = 4;
const X_TICK_WIDTH = 76;

/** The values of an alert with its threshold, and its states as a band below. Windows that were not evaluated are empty. */
export function AlertChart({ label, points, threshold, start, end }: Props) {
  const { ref, width, height } = useElementSize();
  const [hover, setHover] = useState<number>();
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const range = useMemo(() => computeRange(points, threshold), [points, threshold]);
  const lines = useMemo(() => listLines(points), [points]);
  // Short states are drawn over the longer ones beside them.
  const bands = useMemo(
    () => listBands(points).toSorted((one, other) => Number(other.status === 'ok') - Number(one.status === 'ok')),
    [points],
  );
  const plot = {
    width: Math.max(width - SPACE.left - SPACE.right, 1),
    height: Math.max(height - SPACE.top - SPACE.bottom, 1),
  };
  const toX = (at: number) => SPACE.left + ((at - start) / Math.max(end - start, 1)) * plot.width;
  const toY = (value: number) => SPACE.top + (1 - (value - range[0]) / (range[1] - range[0])) * plot.height;
  const bottom = SPACE.top + plot.height;
  const times = listTimeTicks(start, end, Math.max(2, Math.floor(plot.width / X_TICK_WIDTH)));
  const timeLabels = formatAxisLabels(
    times.ticks.map((at) => at / 1000),
    times.stepMs / 1000,
    zone,
  );
  const hovered = hover === undefined ? undefined : points[hover];
  const follow = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>) => {
    const left = clientX - currentTarget.getBoundingClientRect().left;
    setHover(findNearest(points, (point) => Math.abs(toX(point.end) - left)));
  };
  return (
    <div>
      <div ref={ref} className={classes.chart} data-testid="alert-chart">
        {width > 0 && (
          <svg
            width={width}
            height={height}
            role="img"
            aria-label={label}
            onPointerMove={follow}
            onPointerLeave={() => setHover(undefined)}
          >
            {listTicks(range, Y_TICKS).map((value) => (
              <g key={value}>
                <line
                  className={classes.grid}
                  x1={SPACE.left}
                  x2={width - SPACE.right}
                  y1={toY(value)}
                  y2={toY(value)}
                />
                <text className={classes.tick} x={SPACE.left - 8} y={toY(value) + 4} textAnchor="end">
                  {formatAlertValue(value)}
                </text>
              </g>
            ))}
            {times.ticks.map((at, index) => (
              <text key={at} className={classes.tick} x={toX(at)} y={height - 6} textAnchor="middle">
                {timeLabels[index]}
              </text>
            ))}
            {listFiringRanges(threshold, range).map(([low, high]) => (
              <rect
                key={`${low} ${high}`}
                className={classes.firing}
                x={SPACE.left}
                width={plot.width}
                y={toY(high)}
                height={Math.max(toY(low) - toY(high), 0)}
              />
            ))}
            {threshold.limits.map((value) => (
              <line
                key={value}
                className={classes.threshold}
                x1={SPACE.left}
                x2={width - SPACE.right}
                y1={toY(value)}
                y2={toY(value)}
              />
            ))}
            {lines.map((line) =>
              line.length === 1 ? (
                <circle
                  key={line[0]?.end}
                  className={classes.point}
                  cx={toX(line[0]?.end ?? 0)}
                  cy={toY(line[0]?.value ?? 0)}
                  r={2.5}
                />
              ) : (
                <path
                  key={line[0]?.end}
                  className={classes.line}
                  d={`M${line.map(({ end: at, value }) => `${toX(at).toFixed(1)} ${toY(value).toFixed(1)}`).join('L')}`}
                />
              ),
            )}
            {bands.map((band) => (
              <rect
                key={band.start}
                className={classes.band}
                data-status={band.status}
                x={Math.max(toX(band.start), SPACE.left)}
                width={Math.max(toX(band.end) - Math.max(toX(band.start), SPACE.left), band.status === 'ok' ? 1 : 3)}
                y={bottom + BAND.below}
                height={BAND.height}
              />
            ))}
            {hovered && (
              <line
                className={classes.cursor}
                x1={toX(hovered.end)}
                x2={toX(hovered.end)}
                y1={SPACE.top}
                y2={bottom + BAND.below + BAND.height}
              />
            )}
          </svg>
        )}
        {hovered && (
          <div
            className={`ph-tip ${classes.tip}`}
            style={
              toX(hovered.end) > width / 2 ? { right: width - toX(hovered.end) + 12 } : { left: toX(hovered.end) + 12 }
            }
          >
            <div className={classes.tipTime}>
              {formatDateTime(hovered.start, zone)} – {formatDateTime(hovered.end, zone)}
            </div>
            <b className="ph-number">{hovered.value === null ? 'No value' : formatAlertValue(hovered.value)}</b>
            {' · '}
            {STATUS_LABELS[hovered.status]}
          </div>
        )}
      </div>
      <ul className={classes.legend} aria-label="States in the chart">
        {STATUSES.filter((status) => bands.some((band) => band.status === status)).map((status) => (
          <li key={status}>
            <svg width={10} height={8} aria-hidden="true">
              <rect className={classes.band} data-status={status} width={10} height={8} />
            </svg>
            {STATUS_LABELS[status]}
          </li>
        ))}
        <li>
          <svg width={18} height={8} aria-hidden="true">
            <line className={classes.threshold} x1={0} x2={18} y1={4} y2={4} />
          </svg>
          Threshold
        </li>
      </ul>
    </div>
  );
}

function findNearest(points: readonly ChartPoint[], measure: (point: ChartPoint) => number): number | undefined {
  let [nearest, best] = [-1, Number.POSITIVE_INFINITY];
  for (const [index, point] of points.entries()) {
    const distance = measure(point);
    if (distance < best) [nearest, best] = [index, distance];
  }
  return nearest === -1 ? undefined : nearest;
}
