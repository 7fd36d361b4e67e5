import type { Zone } from '../../kernel/time/zone.ts';
import { queryError } from './queries/draft.ts';
import {
  countBuckets,
  findGranularity,
  type Granularity,
  type Range,
  type TimeBuckets,
} from './queries/time-buckets.ts';

export const MAX_BUCKETS = 1500;
/** Points are buckets × groups, summed over the series. */
export const MAX_POINTS = 2_000_000;

/** The times that the engine can compare with a DateTime64(9), with a margin for the extension to whole buckets. */
export const MIN_TIME_MS = 0;
export const MAX_TIME_MS = Date.UTC(2262, 0, 1);

/** `granularity` is the requested one, for the message; `step` the one that it resolves to. */
export function rejectTooManyBuckets(range: Range, granularity: string, step: Granularity, zone: Zone): void {
  const count = countBuckets(range, step, zone);
  if (count <= MAX_BUCKETS) return;
  throw queryError(
    'granularity',
    `${granularity} splits this range into ${count} buckets; the maximum is ${MAX_BUCKETS}. ${suggest(range, zone, MAX_BUCKETS)}`,
  );
}

/** `groups` is the sum over the series. */
export function rejectTooManyPoints(buckets: TimeBuckets, groups: number, zone: Zone): void {
  const points = buckets.starts.length * groups;
  if (points <= MAX_POINTS) return;
  const maxBuckets = Math.floor(MAX_POINTS / groups);
  throw queryError(
    'granularity',
    `${groups} groups in ${buckets.starts.length} buckets are ${points} points; the maximum is ${MAX_POINTS}. ${suggest(buckets, zone, maxBuckets)}`,
  );
}

function suggest(range: Range, zone: Zone, maxBuckets: number): string {
  const name = findGranularity(range, zone, maxBuckets);
  return name === undefined
    ? 'No granularity fits; use a shorter range'
    : `The smallest granularity that fits is ${name}`;
}
