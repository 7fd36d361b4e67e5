import type { AggregationName } from '../aggregations.ts';
import { getAggregation } from '../aggregations.ts';
import type { Points } from '../queries/series-query.ts';
import { coveredPart, type TimeBuckets } from '../queries/time-buckets.ts';

/** What a tile shows if no row matches: a count is 0, any other aggregation has no value. */
export const chooseEmptyValue = (aggFn: AggregationName | undefined): 0 | null =>
  aggFn !== undefined && getAggregation(aggFn).isCount ? 0 : null;

/** A count is 0 in a bucket without rows, unless the bucket is in the future. */
export function fillCounts(
  points: Points,
  aggFn: AggregationName | undefined,
  buckets: TimeBuckets,
  nowMs: number,
): Points {
  if (chooseEmptyValue(aggFn) === null) return points;
  const empty = buckets.starts.map((_, index) => {
    const { startMs, endMs } = coveredPart(buckets, index, nowMs);
    return endMs > startMs ? 0 : null;
  });
  const groups = points.groups.map((group) => ({
    ...group,
    values: group.values.map((value, index) => value ?? empty[index] ?? null),
  }));
  return { ...points, groups };
}
