import { findZone, type Zone } from '../../../kernel/time/zone.ts';
import { rejectTooManyBuckets } from '../limits.ts';
import { queryError } from './draft.ts';
import { chooseGranularity, type Granularity, type Range, splitRange, type TimeBuckets } from './time-buckets.ts';

/** How a range is split into buckets. */
export interface BucketChoice {
  granularity: Granularity | 'auto';
  /** For `auto`: the number of buckets that fit the drawing. */
  points?: number | undefined;
}

/** The range and options with which a tile is viewed. */
export interface TileView extends Range, BucketChoice {
  timezone: string;
  /** The number of separate groups. Defaults to that of the series type. */
  groups?: number | undefined;
  withOthers: boolean;
  /** Rows of a search. */
  limit: number;
}

export function getZone(name: string): Zone {
  const zone = findZone(name);
  if (!zone) throw queryError('timezone', `Unknown time zone ${name}; use an IANA name such as Europe/Berlin`);
  return zone;
}

/** Extends the range to whole buckets. */
export function chooseBuckets(range: Range, { granularity, points }: BucketChoice, zone: Zone): TimeBuckets {
  const step = granularity === 'auto' ? chooseGranularity(range, points) : granularity;
  rejectTooManyBuckets(range, granularity, step, zone);
  return splitRange(range, step, zone);
}

/**
 * Buckets of a range whose end is inclusive and outside of which no row counts. An end at the start of a bucket does not
 * add that bucket: 24 hours have 24 hourly buckets.
 */
export function chooseExactBuckets(startMs: number, lastMs: number, choice: BucketChoice, zone: Zone): TimeBuckets {
  const buckets = chooseBuckets({ startMs, endMs: lastMs }, choice, zone);
  const endMs = Math.min(lastMs + 1, buckets.endMs);
  return { ...buckets, startMs, endMs };
}
