import type { CostRecord } from '../../api/types.ts';
import { listDays } from '../format/days.ts';

const MICROS_PER_CREDIT = 1_000_000;

/** Exact: amounts have at most six decimals and are added as whole micro-credits. */
export const sumCredits = (amounts: Iterable<number>): number => {
  let micros = 0;
  for (const amount of amounts) micros += Math.round(amount * MICROS_PER_CREDIT);
  return micros / MICROS_PER_CREDIT;
};

export const sumCosts = (costs: readonly CostRecord[]): number => sumCredits(costs.map(({ totalCHC }) => totalCHC));

/** The total of each day, 0 for days without costs. */
export function dailyTotals(costs: readonly CostRecord[], from: string, to: string): number[] {
  const byDay = new Map<string, number[]>();
  for (const { date, totalCHC } of costs) byDay.set(date, [...(byDay.get(date) ?? []), totalCHC]);
  return listDays(from, to).map((day) => sumCredits(byDay.get(day) ?? []));
}
