import { type AggregationName, getAggregation } from '../aggregations.ts';
import type { Group, Points, Value } from './series-query.ts';

/** Groups of each series that are matched before the ratio is limited to the top groups. */
export const MAX_COMPARED_GROUPS = 5000;

/**
 * Divides the first series by the second, by group and bucket; null if the divisor is 0 or missing. The groups are those
 * of the second series, largest first.
 */
export function computeRatio(
  numerator: Points,
  denominator: Points,
  { aggFn, groups: maxGroups }: { aggFn: AggregationName | undefined; groups: number },
): Points {
  const dividends = new Map(numerator.groups.map((group) => [groupId(group), group]));
  const missing = aggFn === undefined ? null : getAggregation(aggFn).emptyValue;
  const groups = denominator.groups.slice(0, maxGroups).map((divisor) => {
    const dividend = dividends.get(groupId(divisor));
    return { ...divisor, values: divisor.values.map((by, index) => divide(dividend?.values[index] ?? missing, by)) };
  });
  return { groups, totalGroups: denominator.totalGroups };
}

const groupId = ({ labels }: Group): string => JSON.stringify(labels);

function divide(value: Value, by: Value): number | null {
  return typeof value === 'number' && typeof by === 'number' && by !== 0 ? value / by : null;
}
