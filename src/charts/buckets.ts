import { localDay, startOfLocalDay, type Zone } from './zone.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Every step of the ladder divides the ones above it that it can stand under in one chart. */
export const GRANULARITIES = {
  '1s': SECOND,
  '15s': 15 * SECOND,
  '30s': 30 * SECOND,
  '1m': MINUTE,
  '5m': 5 * MINUTE,
  '10m': 10 * MINUTE,
  '15m': 15 * MINUTE,
  '30m': 30 * MINUTE,
  '1h': HOUR,
  '2h': 2 * HOUR,
  '6h': 6 * HOUR,
  '12h': 12 * HOUR,
  '1d': DAY,
  '2d': 2 * DAY,
  '7d': 7 * DAY,
  '30d': 30 * DAY,
} as const;
export type Granularity = keyof typeof GRANULARITIES;

/** What `auto` may choose: ten minutes would not divide a quarter of an hour. */
const LADDER = (Object.keys(GRANULARITIES) as Granularity[]).filter((name) => name !== '1s' && name !== '10m');

const AUTO_BUCKETS = 60;
export const MOST_BUCKETS = 1500;

export interface Range {
  startMs: number;
  /** Exclusive. */
  endMs: number;
}

/** Moments cut into numbered intervals, and how the engine finds the number of one. */
export interface Buckets extends Range {
  /** Undefined: one interval, the whole range. */
  granularity: Granularity | undefined;
  /** Where each begins. */
  starts: number[];
  /** The number of the bucket that a time column lies in, from 0; `bind` turns a number into SQL. */
  indexOf(column: string, bind: (value: unknown, type: string) => string): string;
  /** How long one lasts, in seconds. */
  secondsOf(index: number): number;
}

export function oneBucket({ startMs, endMs }: Range): Buckets {
  return {
    startMs,
    endMs,
    granularity: undefined,
    starts: [startMs],
    indexOf: () => 'toInt64(0)',
    secondsOf: () => (endMs - startMs) / SECOND,
  };
}

/** The smallest step of the ladder that needs at most sixty buckets. */
export function autoGranularity({ startMs, endMs }: Range): Granularity {
  return LADDER.find((name) => (endMs - startMs) / GRANULARITIES[name] <= AUTO_BUCKETS) ?? '30d';
}

/** The range, widened to whole buckets. Days and longer begin at the zone's midnight, shorter steps line up with it. */
export function bucketsOf(range: Range, granularity: Granularity, zone: Zone): Buckets {
  return GRANULARITIES[granularity] >= DAY ? ofDays(range, granularity, zone) : ofEqualLength(range, granularity, zone);
}

function ofEqualLength(range: Range, granularity: Granularity, zone: Zone): Buckets {
  const step = GRANULARITIES[granularity];
  const midnight = startOfLocalDay(zone, localDay(zone, range.startMs));
  const first = midnight + Math.floor((range.startMs - midnight) / step) * step;
  const count = Math.max(1, Math.ceil((range.endMs - first) / step));
  const seconds = step / SECOND;
  return {
    startMs: first,
    endMs: first + count * step,
    granularity,
    starts: Array.from({ length: count }, (_, index) => first + index * step),
    indexOf: (column, bind) =>
      `intDiv(toUnixTimestamp(${column}) - ${bind(first / SECOND, 'Int64')}, ${bind(seconds, 'Int64')})`,
    secondsOf: () => seconds,
  };
}

/** Local days are 23 to 25 hours long where clocks change; periods of several days count from 1970-01-01. */
function ofDays(range: Range, granularity: Granularity, zone: Zone): Buckets {
  const days = GRANULARITIES[granularity] / DAY;
  const firstDay = Math.floor(localDay(zone, range.startMs) / days) * days;
  const count = Math.max(1, Math.floor((localDay(zone, range.endMs - 1) - firstDay) / days) + 1);
  const bounds = Array.from({ length: count + 1 }, (_, index) => startOfLocalDay(zone, firstDay + index * days));
  const starts = bounds.slice(0, count);
  return {
    startMs: bounds[0] as number,
    endMs: bounds[count] as number,
    granularity,
    starts,
    indexOf: (column, bind) =>
      `intDiv(toInt64(toDate32(toTimeZone(${column}, ${bind(zone.name, 'String')}))) - ${bind(firstDay, 'Int64')}, ${bind(days, 'Int64')})`,
    secondsOf: (index) => ((bounds[index + 1] ?? 0) - (bounds[index] ?? 0)) / SECOND,
  };
}
