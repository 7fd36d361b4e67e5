import { formatValue } from '../../number-format.ts';
import type { TileDataByType } from '../../queries.ts';

export type PartialBuckets = TileDataByType<'time'>['partialBuckets'];

const formatLength = (ms: number): string => formatValue(Math.round(ms / 1000), { output: 'duration' });

/** "Incomplete: 12 min 5 s of 30 min 0 s"; undefined for a complete bucket. */
export function formatPart(
  partialBuckets: PartialBuckets,
  buckets: readonly number[],
  index: number,
  rangeEnd: number,
): string | undefined {
  const at = buckets[index];
  const part = at === undefined ? undefined : partialBuckets?.find(({ bucket }) => bucket === at);
  if (at === undefined || !part) return undefined;
  const length = (buckets[index + 1] ?? rangeEnd) - at;
  return `Incomplete: ${formatLength(part.end - part.start)} of ${formatLength(length)}`;
}

/** Indexes of buckets: the complete ones, and the segments of a line that end in an incomplete one. */
export interface Completeness {
  first: number;
  last: number;
  segments: [from: number, to: number][];
}

export function findCompleteness(partialBuckets: PartialBuckets, buckets: readonly number[]): Completeness {
  const partial = new Set(partialBuckets?.map(({ bucket }) => bucket));
  const end = buckets.length - 1;
  let [first, last] = [0, end];
  while (first <= end && partial.has(buckets[first] ?? 0)) first += 1;
  // Buckets after the newest one have no values.
  const newest = buckets.findLastIndex((at) => partial.has(at));
  if (newest >= first) last = newest - 1;
  const before: [number, number][] = first > 0 ? [[0, Math.min(first, end)]] : [];
  const after: [number, number][] = last < end ? [[Math.max(last, 0), end]] : [];
  return { first, last, segments: [...before, ...after] };
}
