/** The counts of a cumulative histogram. */
export interface HistogramCounts {
  readonly bounds: readonly number[];
  /** Observations per bucket, not cumulative; the last is for values above all bounds. */
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

/** Upper bounds are inclusive. */
export function observe(histogram: HistogramCounts, value: number): void {
  const { bounds, counts } = histogram;
  let at = 0;
  while (at < bounds.length && value > (bounds[at] as number)) at++;
  counts[at] = (counts[at] as number) + 1;
  histogram.count++;
  histogram.sum += value;
  if (value < histogram.min) histogram.min = value;
  if (value > histogram.max) histogram.max = value;
}

/** The columns of a histogram row. The counts are copied: the row is written later, when they may have changed. */
export const toHistogramColumns = ({ bounds, counts, count, sum, min, max }: HistogramCounts) => ({
  Count: count,
  Sum: sum,
  BucketCounts: [...counts],
  ExplicitBounds: bounds,
  Min: count === 0 ? 0 : min,
  Max: max,
});
