import type { Engine } from '../../engine/engine.ts';
import { addDays, type Day } from '../../kernel/days.ts';
import { normalizeDecimal } from '../../kernel/decimal.ts';
import type { EntityType } from '../entity.ts';
import type { Metric } from '../meter.ts';
import type { UsageTotal } from './ledger.ts';

const LIMITS = { maxSeconds: 300, maxResultRows: 2_000_000, maxResultBytes: 256 * 2 ** 20 };

/** Sums the usage events of a day. Equal rows count once. */
export async function readUsageTotals(engine: Engine, organizationId: string, day: Day): Promise<UsageTotal[]> {
  const rows = await engine.query(
    {
      sql: `SELECT EntityType, EntityId, Meter, toString(sum(Quantity))
        FROM pilothouse.usage_events FINAL
        WHERE OrganizationId = {organizationId:String}
          AND Time >= toDateTime64({from:String}, 3, 'UTC') AND Time < toDateTime64({to:String}, 3, 'UTC')
        GROUP BY EntityType, EntityId, Meter`,
      parameters: { organizationId, from: `${day} 00:00:00`, to: `${addDays(day, 1)} 00:00:00` },
    },
    { limits: LIMITS },
  );
  return rows.map(([entityType, entityId, meter, quantity]) => ({
    entityType: entityType as EntityType,
    entityId: String(entityId),
    meter: meter as Metric,
    quantity: normalizeDecimal(String(quantity)),
  }));
}
