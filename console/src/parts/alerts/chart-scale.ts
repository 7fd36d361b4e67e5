import type { Alert } from '../../api/generated.ts';
import { hasTwoLimits, type ShownStatus } from './alert-status.ts';

/** A window of an alert. Times are epoch milliseconds. */
export interface ChartPoint {
  start: number;
  end: number;
  value: number | null;
  status: ShownStatus;
}

export interface ChartThreshold {
  type: Alert['thresholdType'];
  /** One or two values. */
  limits: readonly number[];
}

export const toChartThreshold = (
  type: Alert['thresholdType'],
  threshold: number,
  thresholdMax: number | null | undefined,
): ChartThreshold => ({
  type,
  limits: hasTwoLimits(type) ? [threshold, thresholdMax ?? threshold] : [threshold],
});

/** Includes 0, the values and the threshold, with padding. */
export function computeRange(points: readonly ChartPoint[], { limits }: ChartThreshold): [number, number] {
  let [low, high] = [Math.min(0, ...limits), Math.max(0, ...limits)];
  for (const { value } of points) {
    if (value === null) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low === high) return [0, 1];
  const padding = (high - low) * 0.08;
  return [low < 0 ? low - padding : 0, high > 0 ? high + padding : 0];
}

/** The ranges of values that make the alert fire. A single value has no range. */
export function listFiringRanges({ type, limits }: ChartThreshold, [low, high]: [number, number]): [number, number][] {
  const [first = 0, second = first] = limits;
  switch (type) {
    case 'above':
    case 'above_exclusive':
      return [[first, high]];
    case 'below':
    case 'below_or_equal':
      return [[low, first]];
    case 'between':
      return [[first, second]];
    case 'not_between':
      return [
        [low, first],
        [second, high],
      ];
    default:
      return [];
  }
}

/** Runs of neighboring points with values: windows that were not evaluated and those without a value interrupt the line. */
export function listLines(points: readonly ChartPoint[]): { end: number; value: number }[][] {
  const lines: { end: number; value: number }[][] = [];
  let before: ChartPoint | undefined;
  for (const point of points) {
    if (point.value !== null) {
      const line = lines.at(-1);
      const isNext = before !== undefined && before.value !== null && isAdjacent(before, point);
      if (isNext && line) line.push({ end: point.end, value: point.value });
      else lines.push([{ end: point.end, value: point.value }]);
    }
    before = point;
  }
  return lines;
}

/** Windows of equal length have no gap between them. */
const isAdjacent = (one: ChartPoint, other: ChartPoint): boolean => other.start - one.end < (one.end - one.start) / 2;

/** Neighboring windows with the same state. */
export function listBands(points: readonly ChartPoint[]): Pick<ChartPoint, 'start' | 'end' | 'status'>[] {
  const bands: Pick<ChartPoint, 'start' | 'end' | 'status'>[] = [];
  for (const point of points) {
    const last = bands.at(-1);
    const gap = last ? point.start - last.end : 0;
    if (last?.status === point.status && gap < (point.end - point.start) / 2) last.end = point.end;
    else bands.push({ start: point.start, end: point.end, status: point.status });
  }
  return bands;
}

/** About `count` round values in the range. */
export function listTicks([low, high]: [number, number], count: number): number[] {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((size) => size * power >= rough) ?? 10);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

const SECOND = 1000;
const STEPS_MS = [
  ...[1, 5, 10, 15, 30].map((minutes) => minutes * 60 * SECOND),
  ...[1, 2, 3, 6, 12].map((hours) => hours * 3600 * SECOND),
  ...[1, 2, 5, 10].map((days) => days * 86_400 * SECOND),
];

/** Ticks of the time axis, at most `count`, at round times of the zone of the browser. */
export function listTimeTicks(start: number, end: number, count: number): { ticks: number[]; stepMs: number } {
  const stepMs = STEPS_MS.find((step) => (end - start) / step <= count) ?? 10 * 86_400 * SECOND;
  const shift = -new Date(start).getTimezoneOffset() * 60 * SECOND;
  const ticks: number[] = [];
  for (let at = Math.ceil((start + shift) / stepMs) * stepMs - shift; at <= end; at += stepMs) ticks.push(at);
  return { ticks, stepMs };
}
