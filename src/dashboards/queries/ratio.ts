import type { Group, Points, Value } from './reading.ts';

/** The first series divided by the second, by group and bucket; null where there is nothing to divide, or by. */
export function ratioOf(numerator: Points, denominator: Points): Points {
  const divisors = new Map(denominator.groups.map((group) => [idOf(group), group]));
  const groups = numerator.groups.map((group) => ({
    ...group,
    values: group.values.map((value, index) => divided(value, divisors.get(idOf(group))?.values[index])),
  }));
  return { groups, totalGroups: numerator.totalGroups };
}

const idOf = ({ labels, isOthers }: Group): string => JSON.stringify([isOthers, labels]);

function divided(value: Value, by: Value | undefined): number | null {
  return typeof value === 'number' && typeof by === 'number' && by !== 0 ? value / by : null;
}
