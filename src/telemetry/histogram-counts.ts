/** What a histogram has counted since it was made; it only ever grows. */
export interface HistogramCounts {
  readonly bounds: readonly number[];
  /** How many fell into each bucket and no smaller one; the last is for all beyond the bounds. */
  readonly counts: number[];
  count: number;
  sum: number;
  min: number;
  max: number;
}

export const createHistogramCounts = (bounds: readonly number[]): HistogramCounts => ({
  bounds,
  counts: new Array(bounds.length + 1).fill(0),
  count: 0,
  sum: 0,
  min: Number.POSITIVE_INFINITY,
  max: 0,
});

/** A bound belongs to the bucket below it. */
export function observe(buckets: HistogramCounts, value: number): void {
  const { bounds, counts } = buckets;
  let at = 0;
  while (at < bounds.length && value > (bounds[at] as number)) at++;
  counts[at] = (counts[at] as number) + 1;
  buckets.count++;
  buckets.sum += value;
  if (value < buckets.min) buckets.min = value;
  if (value > buckets.max) buckets.max = value;
}

/** As the columns of a histogram row. The counts are copied: the row may be written after more was counted. */
export const toHistogramColumns = ({ bounds, counts, count, sum, min, max }: HistogramCounts) => ({
  Count: count,
  Sum: sum,
  BucketCounts: [...counts],
  ExplicitBounds: bounds,
  Min: count === 0 ? 0 : min,
  Max: max,
});
