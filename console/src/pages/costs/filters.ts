import type { CostRecord } from '../../api/types.ts';
import { toMetric } from './metrics.ts';
import type { CostFilters, CostsSearch } from './search.ts';

type RecordFilters = Omit<CostFilters, 'day'>;

/** The records of the entity or warehouse, with the one metric only. `day` is not applied. */
export function filterCosts(costs: readonly CostRecord[], { entity, warehouse, metric }: RecordFilters): CostRecord[] {
  const found = costs.filter(
    ({ entityId, dataWarehouseId }) =>
      (entity === undefined || entityId === entity) && (warehouse === undefined || dataWarehouseId === warehouse),
  );
  if (metric === undefined) return found;
  const name = toMetric(metric);
  return found.map((cost) => {
    const amount = cost.metrics[name] ?? 0;
    return { ...cost, metrics: { [name]: amount } as CostRecord['metrics'], totalCHC: amount };
  });
}

/** The search with some parameters changed; undefined removes one. */
export function withSearch(search: CostsSearch, part: { [Name in keyof CostsSearch]: CostsSearch[Name] | undefined }) {
  return Object.fromEntries(
    Object.entries({ ...search, ...part }).filter(([, value]) => value !== undefined),
  ) as CostsSearch;
}

export const hasFilters = ({ day, entity, warehouse, metric }: CostFilters): boolean =>
  [day, entity, warehouse, metric].some((value) => value !== undefined);
