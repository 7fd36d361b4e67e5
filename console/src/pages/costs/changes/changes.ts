import type { UsageCostSummaryGetResult } from '../../../api/generated.ts';
import { toMicros } from '../breakdown.ts';
import { toMeter, toMetric } from '../metrics.ts';
import type { CostFilters } from '../search.ts';

/** The cost of one meter of one entity, in micro-credits, and in the period before. */
export interface CostChange {
  entityId: string;
  entityName: string;
  meter: string;
  current: number;
  previous: number;
  change: number;
}

type Amounts = Partial<Record<string, number>>;
type SummaryRow = UsageCostSummaryGetResult['rows'][number];

/** The largest change first, up or down. Rows of a summary by entity over the whole range. */
export function listCostChanges(
  rows: readonly SummaryRow[],
  { entity, warehouse, metric }: Pick<CostFilters, 'entity' | 'warehouse' | 'metric'>,
): CostChange[] {
  return rows
    .filter(
      ({ entityId, dataWarehouseId }) =>
        (entity === undefined || entityId === entity) && (warehouse === undefined || dataWarehouseId === warehouse),
    )
    .flatMap(splitRow)
    .filter(({ meter }) => metric === undefined || meter === metric)
    .toSorted((a, b) => Math.abs(b.change) - Math.abs(a.change) || b.current - a.current);
}

function splitRow({ entityId = '', entityName = '', ...row }: SummaryRow): CostChange[] {
  const metrics: Amounts = row.metrics ?? {};
  const before: Amounts = row.previous.metrics ?? {};
  return Object.keys({ ...before, ...metrics }).flatMap((metric) => {
    const meter = toMeter(metric);
    const read = (amounts: Amounts) => toMicros(amounts[toMetric(meter)] ?? 0);
    const [current, old] = [read(metrics), read(before)];
    if (current === 0 && old === 0) return [];
    return [{ entityId, entityName, meter, current, previous: old, change: current - old }];
  });
}

export const sumChanges = (changes: readonly CostChange[]) => ({
  current: changes.reduce((sum, { current }) => sum + current, 0),
  previous: changes.reduce((sum, { previous }) => sum + previous, 0),
});
