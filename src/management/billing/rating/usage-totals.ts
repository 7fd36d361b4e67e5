import { normalizeDecimal } from '../../../kernel/numbers/decimal.ts';
import { addDays, type Day } from '../../../kernel/time/days.ts';
import type { Engine } from '../../../platform/engine/engine.ts';
import type { EntityType } from '../entity.ts';
import type { MeterName } from '../meter.ts';
import { hasLostUsage, type LedgerEntry, type UsageTotal } from './ledger.ts';

const LIMITS = { maxSeconds: 300, maxResultRows: 2_000_000, maxResultBytes: 256 * 2 ** 20 };

/** The usage of one day, as the engine has it. */
export interface DayUsage {
  totals: UsageTotal[];
  /** The number of events. Equal rows count once. */
  events: number;
}

/** Whether the engine has every event that was accepted for the day, and all usage that the ledger has. */
export const hasAllEvents = (
  { events = 0 }: { events: number | undefined },
  usage: DayUsage,
  booked: readonly LedgerEntry[],
): boolean => usage.events >= events && !hasLostUsage(usage.totals, booked);

/** Sums and counts the usage events of a day. */
export async function readDayUsage(engine: Engine, organizationId: string, day: Day): Promise<DayUsage> {
  const rows = await engine.query(
    {
      sql: `SELECT EntityType, EntityId, Meter, toString(sum(Quantity)), count()
        FROM pilothouse.usage_events FINAL
        WHERE OrganizationId = {organizationId:String}
          AND Time >= toDateTime64({from:String}, 3, 'UTC') AND Time < toDateTime64({to:String}, 3, 'UTC')
        GROUP BY EntityType, EntityId, Meter`,
      parameters: { organizationId, from: `${day} 00:00:00`, to: `${addDays(day, 1)} 00:00:00` },
    },
    { limits: LIMITS },
  );
  return {
    totals: rows.map(([entityType, entityId, meter, quantity]) => ({
      entityType: entityType as EntityType,
      entityId: String(entityId),
      meter: meter as MeterName,
      quantity: normalizeDecimal(String(quantity)),
    })),
    events: rows.reduce((sum, [, , , , count]) => sum + Number(count), 0),
  };
}
