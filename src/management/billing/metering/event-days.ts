import type { Day } from '../../../kernel/time/days.ts';
import type { Engine } from '../../../platform/engine/engine.ts';
import type { Db } from '../../../platform/state/tables.ts';
import { markDaysChanged, readLockedThrough } from './store.ts';

const LIMITS = { maxSeconds: 600, maxResultRows: 20_000_000 };

/** The days that have usage events, by organization. */
export async function listEventDays(engine: Engine): Promise<Map<string, Day[]>> {
  const rows = await engine.query(
    {
      sql: `SELECT OrganizationId, arraySort(groupUniqArray(toString(toDate(Time, 'UTC'))))
        FROM pilothouse.usage_events GROUP BY OrganizationId`,
      parameters: {},
    },
    { limits: LIMITS },
  );
  return new Map(rows.map(([organizationId, days]) => [String(organizationId), days as Day[]]));
}

/** Marks days of an organization to be rated again; adds those that have no usage yet. */
export async function markEventDays(tx: Db, organizationId: string, days: readonly Day[]): Promise<void> {
  await markDaysChanged(tx, organizationId, days, await readLockedThrough(tx, organizationId));
}
