export const COST_RANGES = ['7d', '30d', 'month', 'last-month', '90d', '180d', '365d'] as const;
export type CostRange = (typeof COST_RANGES)[number];
export const GROUPINGS = ['metric', 'service', 'warehouse'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** The costs that the tables and the chart are limited to. */
export interface CostFilters {
  /** A day of the span, YYYY-MM-DD. The chart still shows the whole span. */
  day?: string;
  /** The ID of a service, warehouse or clickpipe. */
  entity?: string;
  /** The ID of a warehouse: its own costs and those of its services. */
  warehouse?: string;
  /** `compute`, `storage`, … */
  metric?: string;
}

/** URL parameters of the costs page. */
export interface CostsSearch extends CostFilters {
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
const isName = (value: unknown): value is string => typeof value === 'string' && /^[\w-]{1,64}$/.test(value);

export function parseCostsSearch(search: Record<string, unknown>): CostsSearch {
  const range = COST_RANGES.find((one) => one === search.range);
  const by = GROUPINGS.find((one) => one === search.by);
  const { from, to, day, entity, warehouse, metric } = search;
  const isSpan = isDay(from) && isDay(to) && from <= to;
  return {
    ...(isSpan ? { from, to } : range ? { range } : {}),
    ...(by ? { by } : {}),
    ...(isDay(day) ? { day } : {}),
    ...(isName(entity) ? { entity } : {}),
    ...(isName(warehouse) ? { warehouse } : {}),
    ...(isName(metric) ? { metric } : {}),
  };
}
