import { localDay, startOfLocalDay, type Zone } from '../../../kernel/time/zone.ts';
import { locateLocalBuckets, type Stretch } from './local-buckets.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Bucket lengths in milliseconds. */
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

/** The choices of `auto`. Without 10m, which does not divide 15m. */
const AUTO_GRANULARITIES = (Object.keys(GRANULARITIES) as Granularity[]).filter(
  (name) => name !== '1s' && name !== '10m',
);

/** The buckets of `auto` if the request names no number of points. */
export const DEFAULT_POINTS = 60;

export interface Range {
  startMs: number;
  /** Exclusive. */
  endMs: number;
}

/** Binds a parameter of a statement. */
type Bind = (value: unknown, type: string) => string;

/** A time range split into numbered buckets. Only rows within the range count. */
export interface TimeBuckets extends Range {
  /** Undefined for a single bucket. */
  granularity: Granularity | undefined;
  /** The start of each bucket, in epoch milliseconds. */
  starts: number[];
  /** SQL for the index of the bucket that contains a time, from 0. */
  indexSql(column: string, bind: Bind): string;
  /** The whole length. Local days can be 23 or 25 hours long. */
  durationSeconds(index: number): number;
}

export function singleBucket({ startMs, endMs }: Range): TimeBuckets {
  return {
    startMs,
    endMs,
    granularity: undefined,
    starts: [startMs],
    indexSql: () => 'toInt64(0)',
    durationSeconds: () => (endMs - startMs) / SECOND,
  };
}

/** The part of a bucket that is within the range and has passed. Its length is 0 or less if there is none. */
export function coveredPart(
  { startMs, endMs, starts, durationSeconds }: TimeBuckets,
  index: number,
  nowMs: number,
): Range {
  const start = starts[index] ?? startMs;
  return {
    startMs: Math.max(start, startMs),
    endMs: Math.min(start + durationSeconds(index) * SECOND, endMs, nowMs),
  };
}

/** A bucket that is cut by the range or has not ended, and its part that counts. Epoch milliseconds. */
export interface PartialBucket {
  bucket: number;
  start: number;
  end: number;
}

/** Buckets that are entirely in the future are not partial: they have no values. */
export function listPartialBuckets(buckets: TimeBuckets, nowMs: number): PartialBucket[] {
  return buckets.starts.flatMap((bucket, index) => {
    const { startMs: start, endMs: end } = coveredPart(buckets, index, nowMs);
    const isPartial = end > start && end - start < buckets.durationSeconds(index) * SECOND;
    return isPartial ? [{ bucket, start, end }] : [];
  });
}

/** The smallest step that needs at most this many buckets, not counting the extension to whole buckets. */
export function chooseGranularity({ startMs, endMs }: Range, points = DEFAULT_POINTS): Granularity {
  return AUTO_GRANULARITIES.find((name) => (endMs - startMs) / GRANULARITIES[name] <= points) ?? '30d';
}

/** The number of buckets that `splitRange` creates, without creating them. */
export function countBuckets(range: Range, granularity: Granularity, zone: Zone): number {
  const step = GRANULARITIES[granularity];
  return step >= DAY ? locateDays(range, granularity, zone).count : locateLocalBuckets(range, step, zone).count;
}

/** The smallest granularity that needs at most `maxBuckets`. Undefined if the range is too long for all of them. */
export function findGranularity(range: Range, zone: Zone, maxBuckets: number): Granularity | undefined {
  const names = Object.keys(GRANULARITIES) as Granularity[];
  return names.find((name) => countBuckets(range, name, zone) <= maxBuckets);
}

/**
 * Extends the range to whole buckets, aligned with midnight in the time zone. Allocates an element per bucket: the
 * caller must limit `countBuckets` first.
 */
export function splitRange(range: Range, granularity: Granularity, zone: Zone): TimeBuckets {
  return GRANULARITIES[granularity] >= DAY
    ? splitIntoDays(range, granularity, zone)
    : splitIntoHours(range, granularity, zone);
}

/** The first local day of steps of days, and their number. */
function locateDays(range: Range, granularity: Granularity, zone: Zone): { first: number; count: number } {
  const days = GRANULARITIES[granularity] / DAY;
  const first = Math.floor(localDay(zone, range.startMs) / days) * days;
  return { first, count: Math.max(1, Math.floor((localDay(zone, range.endMs - 1) - first) / days) + 1) };
}

/** Buckets that align with local midnight. Those with a change of the clocks may be longer or shorter. */
function splitIntoHours(range: Range, granularity: Granularity, zone: Zone): TimeBuckets {
  const step = GRANULARITIES[granularity];
  const { stretches, endMs } = locateLocalBuckets(range, step, zone);
  const parts = stretches.map(({ firstMs, count }) => createEvenBuckets(firstMs, step, count));
  const [first] = parts as [TimeBuckets];
  if (parts.length === 1 && first.endMs === endMs) return { ...first, granularity };
  const starts = parts.flatMap((part) => part.starts);
  return {
    startMs: first.startMs,
    endMs,
    granularity,
    starts,
    indexSql: (column, bind) => writeIndex(stretches, step, column, bind),
    durationSeconds: (index) => ((starts[index + 1] ?? endMs) - (starts[index] ?? endMs)) / SECOND,
  };
}

/** The last bucket of a stretch is as long as the next stretch allows. */
function writeIndex(stretches: readonly Stretch[], step: number, column: string, bind: Bind): string {
  let base = 0;
  const parts = stretches.map(({ firstMs, count }) => {
    const index = `intDiv(toUnixTimestamp(${column}) - ${bind(firstMs / SECOND, 'Int64')}, ${bind(step / SECOND, 'Int64')})`;
    const sql = `${bind(base, 'Int64')} + least(${index}, ${bind(count - 1, 'Int64')})`;
    base += count;
    return sql;
  });
  const choices = parts.slice(0, -1).map((sql, index) => {
    const next = bind((stretches[index + 1]?.firstMs ?? 0) / SECOND, 'Int64');
    return `toUnixTimestamp(${column}) < ${next}, ${sql}, `;
  });
  return choices.length === 0 ? (parts[0] ?? '') : `multiIf(${choices.join('')}${parts.at(-1)})`;
}

/** Buckets of the same length from any start, both in whole seconds. */
export function createEvenBuckets(first: number, step: number, count: number): TimeBuckets {
  const seconds = step / SECOND;
  return {
    startMs: first,
    endMs: first + count * step,
    granularity: undefined,
    starts: Array.from({ length: count }, (_, index) => first + index * step),
    indexSql: (column, bind) =>
      `intDiv(toUnixTimestamp(${column}) - ${bind(first / SECOND, 'Int64')}, ${bind(seconds, 'Int64')})`,
    durationSeconds: () => seconds,
  };
}

/** Local days are 23 to 25 hours long when clocks change. Periods of several days are counted from 1970-01-01. */
function splitIntoDays(range: Range, granularity: Granularity, zone: Zone): TimeBuckets {
  const days = GRANULARITIES[granularity] / DAY;
  const { first: firstDay, count } = locateDays(range, granularity, zone);
  const bounds = Array.from({ length: count + 1 }, (_, index) => startOfLocalDay(zone, firstDay + index * days));
  const starts = bounds.slice(0, count);
  return {
    startMs: bounds[0] as number,
    endMs: bounds[count] as number,
    granularity,
    starts,
    indexSql: (column, bind) =>
      `intDiv(toInt64(toDate32(toTimeZone(${column}, ${bind(zone.name, 'String')}))) - ${bind(firstDay, 'Int64')}, ${bind(days, 'Int64')})`,
    durationSeconds: (index) => ((bounds[index + 1] ?? 0) - (bounds[index] ?? 0)) / SECOND,
  };
}
