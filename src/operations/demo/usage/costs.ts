import { chcFromMicros } from '../../../kernel/numbers/money.ts';
import { addDays, toUtcDay } from '../../../kernel/time/days.ts';
import { getApplicablePrice } from '../../../management/billing/prices/applicable-price.ts';
import { calculateCostMicros } from '../../../management/billing/prices/cost-micros.ts';
import { LIST_PRICES } from '../../../management/billing/prices/price-book.ts';
import type { CostSpec } from '../../fleet/schema.ts';
import { type DemoMeter, sumUsage } from './generator.ts';

/** The days that the demo meters. */
export const USAGE_DAYS = 90;

/**
 * The costs of the usage that the demo is going to meter, at the same prices and with the same rounding, so that no figure
 * changes when the metered usage has been rated. Newest day first.
 */
export function listDemoCosts(meters: readonly DemoMeter[], tier: string, nowMs: number): CostSpec[] {
  const today = toUtcDay(nowMs);
  return Array.from({ length: USAGE_DAYS }, (_, back) => addDays(today, -back)).flatMap((date) => {
    const records = new Map<string, CostSpec>();
    for (const meter of meters) {
      const quantity = sumUsage(meter, date, nowMs);
      if (quantity === undefined) continue;
      const { entityType, entityId, meter: name } = meter;
      const price = getApplicablePrice(LIST_PRICES, { meter: name, entityType, tier });
      const record = records.get(entityId) ?? { date, entityType, entityId, locked: false, metrics: {} };
      records.set(entityId, record);
      record.metrics = {
        ...record.metrics,
        [`${name}CHC`]: chcFromMicros(calculateCostMicros(name, quantity, price)),
      };
    }
    return [...records.values()];
  });
}
