import { type AggregationName, getAggregation } from './aggregations.ts';
import type { Group, Points, Value } from './reading.ts';

/** How many groups of either side are compared before the ratio is cut to the top ones. */
export const COMPARED_GROUPS = 5000;

/**
 * The first series divided by the second, group by group and bucket by bucket; null where there is nothing to divide by.
 * The groups are those of the second, the largest first.
 */
export function ratioOf(
  numerator: Points,
  denominator: Points,
  { aggFn, groups: most }: { aggFn: AggregationName | undefined; groups: number },
): Points {
  const dividends = new Map(numerator.groups.map((group) => [idOf(group), group]));
  const missing = aggFn === undefined ? null : getAggregation(aggFn).emptyValue;
  const groups = denominator.groups.slice(0, most).map((divisor) => {
    const dividend = dividends.get(idOf(divisor));
    return { ...divisor, values: divisor.values.map((by, index) => divided(dividend?.values[index] ?? missing, by)) };
  });
  return { groups, totalGroups: denominator.totalGroups };
}

const idOf = ({ labels }: Group): string => JSON.stringify(labels);

function divided(value: Value, by: Value): number | null {
  return typeof value === 'number' && typeof by === 'number' && by !== 0 ? value / by : null;
}
