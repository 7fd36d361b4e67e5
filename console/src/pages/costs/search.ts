export const COST_RANGES = ['7d', '30d', 'month', 'last-month', '90d', '180d', '365d'] as const;
export type CostRange = (typeof COST_RANGES)[number];
export const GROUPINGS = ['metric', 'service', 'warehouse'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** URL parameters of the costs page. */
export interface CostsSearch {
  /** Default: the last 30 days. */
  range?: CostRange;
  /** YYYY-MM-DD, both inclusive. */
  from?: string;
  to?: string;
  /** Default: metric. */
  by?: Grouping;
}

const isDay = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(`${value}T00:00:00Z`));

export function parseCostsSearch(search: Record<string, unknown>): CostsSearch {
  const range = COST_RANGES.find((one) => one === search.range);
  const by = GROUPINGS.find((one) => one === search.by);
  const { from, to } = search;
  const isSpan = isDay(from) && isDay(to) && from <= to;
  return { ...(isSpan ? { from, to } : range ? { range } : {}), ...(by ? { by } : {}) };
}
