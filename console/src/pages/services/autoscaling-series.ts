import type { AutoscalingTimeline } from '../../api/types.ts';
import { formatCredits, formatNumber } from '../../parts/format.ts';

type Point = AutoscalingTimeline['points'][number];

/** The scale that a series is drawn on. Memory and size share one, so that they can be compared. */
export type Unit = 'GB' | 'cores' | 'CHC/h';

interface ChartSeries {
  label: string;
  unit: Unit;
  /** Holds its value until the next point. */
  isStepped: boolean;
  read: (point: Point) => number | undefined;
}

/** Loads and sizes are totals over all replicas. */
export const SERIES: readonly ChartSeries[] = [
  { label: 'Size', unit: 'GB', isStepped: true, read: ({ memoryGb, replicas }) => memoryGb * replicas },
  { label: 'Memory used', unit: 'GB', isStepped: false, read: ({ usedMemoryGb }) => usedMemoryGb },
  { label: 'CPU used', unit: 'cores', isStepped: false, read: ({ cpuCores }) => cpuCores },
  { label: 'Cost', unit: 'CHC/h', isStepped: true, read: ({ costPerHourCHC }) => costPerHourCHC },
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
