import type { AutoscalingTimeline } from '../../../api/types.ts';
import { formatCredits, formatNumber } from '../../../parts/format/format.ts';

type Point = AutoscalingTimeline['points'][number];

type Unit = 'GB' | 'cores' | 'CHC/h';

interface ChartSeries {
  label: string;
  unit: Unit;
  /** Holds its value until the next point. */
  isStepped: boolean;
  /** Of the palette: different also with a color vision deficiency. */
  colorSlot: number;
  read: (point: Point) => number | undefined;
}

/** Loads and sizes are totals over all replicas of all shards. */
export const SERIES: readonly ChartSeries[] = [
  {
    label: 'Size',
    unit: 'GB',
    isStepped: true,
    colorSlot: 0,
    read: ({ memoryGb, replicas, shards = 1 }) => memoryGb * replicas * shards,
  },
  { label: 'Memory used', unit: 'GB', isStepped: false, colorSlot: 1, read: ({ usedMemoryGb }) => usedMemoryGb },
  { label: 'CPU used', unit: 'cores', isStepped: false, colorSlot: 8, read: ({ cpuCores }) => cpuCores },
  { label: 'Cost', unit: 'CHC/h', isStepped: true, colorSlot: 7, read: ({ costPerHourCHC }) => costPerHourCHC },
];

interface ChartPanel {
  title: string;
  unit: Unit;
  /** Positions in `SERIES`. */
  series: readonly number[];
}

/** One panel per unit, so that each has one axis. Memory and size share one, to be compared. */
export const PANELS: readonly ChartPanel[] = [
  { title: 'Memory', unit: 'GB', series: [0, 1] },
  { title: 'CPU', unit: 'cores', series: [2] },
  { title: 'Cost', unit: 'CHC/h', series: [3] },
];

export const formatSeriesValue = (value: number, unit: Unit): string =>
  `${unit === 'CHC/h' ? formatCredits(value) : formatNumber(Math.round(value * 100) / 100)} ${unit}`;

const MINUTE_MS = 60_000;

interface ChartRows {
  /** Epoch milliseconds. */
  times: number[];
  /** One list per series, as long as `times`. */
  values: (number | null)[][];
}

/** The points as columns. An empty row ends the lines where steps are missing. */
export function toChartRows({ points, stepMinutes }: Pick<AutoscalingTimeline, 'points' | 'stepMinutes'>): ChartRows {
  const stepMs = stepMinutes * MINUTE_MS;
  const rows: { at: number; point: Point | undefined }[] = [];
  for (const point of points) {
    const at = Date.parse(point.at);
    const before = rows.at(-1)?.at;
    if (before !== undefined && at - before > stepMs) rows.push({ at: before + stepMs, point: undefined });
    rows.push({ at, point });
  }
  return {
    times: rows.map(({ at }) => at),
    values: SERIES.map(({ read }) => rows.map(({ point }) => (point && read(point)) ?? null)),
  };
}

/** A chart of one point has a width, too. */
const MIN_RANGE_MS = 5 * MINUTE_MS;

/** The shown time, in epoch milliseconds: from the first point, so that minutes of data do not sit at the edge of a day. */
export function toChartRange({
  points,
  from,
  to,
}: Pick<AutoscalingTimeline, 'points' | 'from' | 'to'>): [number, number] {
  const end = Date.parse(to);
  const [first] = points;
  const start = first ? Math.max(Date.parse(from), Date.parse(first.at)) : Date.parse(from);
  return [Math.min(start, end - MIN_RANGE_MS), end];
}
