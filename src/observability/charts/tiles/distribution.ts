/** The last bucket has no upper bound. */
export interface ExplicitHistogram {
  kind: 'explicit';
  bounds: number[];
  counts: number[];
}

/** Bucket `i` of the positive side spans (base^i, base^(i+1)] with base = 2^(2^-scale); the negative side mirrors it. */
export interface ExponentialHistogram {
  kind: 'exponential';
  scale: number;
  positive: [index: number, count: number][];
  negative: [index: number, count: number][];
  zeros: number;
}

export type Histogram = ExplicitHistogram | ExponentialHistogram;

/** Interpolates the quantile within its bucket. Null if the histograms are empty. */
export function estimateQuantile(histograms: Histogram[], level: number): number | null {
  const explicit = histograms.filter((one) => one.kind === 'explicit');
  if (explicit.length > 0) return explicitQuantile(explicit, level);
  return exponentialQuantile(
    histograms.filter((one) => one.kind === 'exponential'),
    level,
  );
}

/**
 * Merges histograms with different bounds: the cumulative count is known at every bound and interpolated in between. A
 * quantile in the open bucket is the highest bound.
 */
function explicitQuantile(histograms: ExplicitHistogram[], level: number): number | null {
  const total = sum(histograms.flatMap(({ counts }) => counts));
  const steps = [...new Set(histograms.flatMap(({ bounds }) => [...bounds, lowerBound(bounds)]))].sort((a, b) => a - b);
  if (total <= 0 || steps.length === 0) return null;
  const target = level * total;
  const below = (value: number) => sum(histograms.map((histogram) => countBelow(histogram, value)));
  const at = steps.findIndex((value) => below(value) >= target && below(value) > 0);
  if (at === -1) return steps.at(-1) ?? null;
  const upper = steps[at] as number;
  const lower = steps[at - 1];
  if (lower === undefined) return upper;
  const [before, after] = [below(lower), below(upper)];
  return after === before ? upper : lower + ((upper - lower) * Math.max(0, target - before)) / (after - before);
}

/** The lowest bucket starts at zero if its upper bound is positive; otherwise its values are at the bound. */
const lowerBound = ([first = 0]: number[]): number => Math.min(0, first);

function countBelow({ bounds, counts }: ExplicitHistogram, value: number): number {
  let below = 0;
  for (const [index, upper] of bounds.entries()) {
    const count = counts[index] ?? 0;
    const lower = index === 0 ? lowerBound(bounds) : (bounds[index - 1] as number);
    if (value >= upper) below += count;
    else return value > lower ? below + (count * (value - lower)) / (upper - lower) : below;
  }
  return below;
}

function exponentialQuantile(histograms: ExponentialHistogram[], level: number): number | null {
  const scale = Math.min(...histograms.map((one) => one.scale));
  const positive = mergeBuckets(histograms, 'positive', scale);
  const negative = mergeBuckets(histograms, 'negative', scale);
  const zeros = Math.max(0, sum(histograms.map((one) => one.zeros)));
  const buckets = [
    ...negative
      .reverse()
      .map(([index, count]) => ({ from: -bucketBound(index + 1, scale), to: -bucketBound(index, scale), count })),
    { from: 0, to: 0, count: zeros },
    ...positive.map(([index, count]) => ({
      from: bucketBound(index, scale),
      to: bucketBound(index + 1, scale),
      count,
    })),
  ].filter(({ count }) => count > 0);
  const target = level * sum(buckets.map(({ count }) => count));
  let below = 0;
  for (const { from, to, count } of buckets) {
    // Bucket widths grow exponentially, so the interpolation is exponential too.
    if (below + count >= target) return from === 0 ? 0 : from * (to / from) ** ((target - below) / count);
    below += count;
  }
  return null;
}

const bucketBound = (index: number, scale: number): number => 2 ** (index * 2 ** -scale);

/** Converts all histograms to the coarsest scale, where one bucket contains several finer ones. */
function mergeBuckets(
  histograms: ExponentialHistogram[],
  side: 'positive' | 'negative',
  scale: number,
): [number, number][] {
  const counts = new Map<number, number>();
  for (const histogram of histograms) {
    for (const [index, count] of histogram[side]) {
      const coarse = Math.floor(index / 2 ** (histogram.scale - scale));
      counts.set(coarse, (counts.get(coarse) ?? 0) + count);
    }
  }
  return [...counts].sort(([a], [b]) => a - b);
}

const sum = (list: number[]): number => list.reduce((total, one) => total + one, 0);
