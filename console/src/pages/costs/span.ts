import { addDays, firstOfMonth, lastOfMonth, listDays } from '../../parts/format/days.ts';
import type { CostRange, CostsSearch } from './search.ts';

/** Days as YYYY-MM-DD, both inclusive. */
export interface Span {
  from: string;
  to: string;
}

export const RANGE_LABELS: Record<CostRange, string> = {
  '7d': '7 days',
  '30d': '30 days',
  month: 'This month',
  'last-month': 'Last month',
  '90d': '90 days',
  '180d': '180 days',
  '365d': '365 days',
};

export const DEFAULT_RANGE: CostRange = '30d';
/** More bars than this do not fit on a screen. */
const MAX_DAYS = 1100;

export function resolveSpan({ range = DEFAULT_RANGE, from, to }: CostsSearch, today: string): Span {
  if (from !== undefined && to !== undefined) {
    const earliest = addDays(to, 1 - MAX_DAYS);
    return { from: from < earliest ? earliest : from, to };
  }
  if (range === 'month') return { from: firstOfMonth(today), to: today };
  if (range === 'last-month') {
    const last = addDays(firstOfMonth(today), -1);
    return { from: firstOfMonth(last), to: last };
  }
  return { from: addDays(today, 1 - Number.parseInt(range, 10)), to: today };
}

/** One span per month: the server accepts at most 31 days per request, and months stay cached for other spans. */
export function splitByMonth({ from, to }: Span): Span[] {
  const months: Span[] = [];
  for (let first = from; first <= to; ) {
    const last = lastOfMonth(first) < to ? lastOfMonth(first) : to;
    months.push({ from: first, to: last });
    first = addDays(last, 1);
  }
  return months;
}

export const listSpanDays = ({ from, to }: Span): string[] => listDays(from, to);
