import type { Engine } from '../../engine/engine.ts';
import { addDays, type Day } from '../../kernel/days.ts';
import type { EntityType, Metric } from '../cost.ts';
import type { Total } from './ledger.ts';
import { millionths, quantityOf } from './quantity.ts';

const LIMITS = { maxSeconds: 300, maxResultRows: 2_000_000 };

/** What was used on a day, straight from the events; equal rows count once. */
export async function totalsOf(engine: Engine, organizationId: string, day: Day): Promise<Total[]> {
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
    quantity: quantityOf(millionths(String(quantity))),
  }));
}
