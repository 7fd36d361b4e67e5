/** Observations since the start of the process, counted in plain arrays: prom-client hashes labels at every observation. */
export interface Histogram {
  readonly bounds: readonly number[];
  /** Observations per bucket, not cumulative; the last is for values above all bounds. */
  readonly counts: number[];
  count: number;
  sum: number;
  min: number;
  max: number;
}

export const createHistogram = (bounds: readonly number[]): Histogram => ({
  bounds,
  counts: new Array(bounds.length + 1).fill(0),
  count: 0,
  sum: 0,
  min: Number.POSITIVE_INFINITY,
  max: 0,
});

/** Upper bounds are inclusive. */
export function observe(histogram: Histogram, value: number): void {
  const { bounds, counts } = histogram;
  let at = 0;
  while (at < bounds.length && value > (bounds[at] as number)) at++;
  counts[at] = (counts[at] as number) + 1;
  histogram.count++;
  histogram.sum += value;
  if (value < histogram.min) histogram.min = value;
  if (value > histogram.max) histogram.max = value;
}

/** Of two histograms with the same bounds. */
export const addHistograms = (a: Histogram, b: Histogram): Histogram => ({
  bounds: a.bounds,
  counts: a.counts.map((count, at) => count + (b.counts[at] as number)),
  count: a.count + b.count,
  sum: a.sum + b.sum,
  min: Math.min(a.min, b.min),
  max: Math.max(a.max, b.max),
});

type Labels = Record<string, string>;

/** In the format of prom-client, which has cumulative buckets. */
export function toPrometheusValues(name: string, labels: Labels, { bounds, counts, count, sum }: Histogram): object[] {
  let cumulative = 0;
  const buckets = [...bounds, '+Inf'].map((le, at) => {
    cumulative += counts[at] as number;
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: cumulative };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
