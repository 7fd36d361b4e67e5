import type { Day } from '../../../kernel/time/days.ts';
import { prepared } from '../../../platform/state/prepared.ts';
import type { Db } from '../../../platform/state/tables.ts';

const ONLY_ROW = 1;

const selectBoundEngine = prepared((db: Db, _: object) =>
  db.selectFrom('usage_engines').select('identity').where('id', '=', ONLY_ROW),
);

/** The identity of the engine that holds the usage events of this store. */
export async function findBoundEngine(db: Db): Promise<string | undefined> {
  const [row] = await selectBoundEngine.all(db, {});
  return row?.identity;
}

export async function bindEngine(tx: Db, identity: string, boundAt: number): Promise<void> {
  await tx
    .insertInto('usage_engines')
    .values({ id: ONLY_ROW, identity, bound_at: boundAt })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ identity, bound_at: boundAt }))
    .execute();
}

/** Whether usage was ever accepted, as far as the store knows. */
export async function hasAcceptedUsage(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('usage_days')
    .select('date')
    .where((eb) => eb.or([eb('events', '>', 0), eb.and([eb('events', 'is', null), eb('revision', '>', 0)])]))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

const raiseEvents = prepared((db: Db, value: { organizationId: string; date: Day; count: number }) =>
  db
    .updateTable('usage_days')
    // An unknown number stays unknown until the day is rated.
    .set((eb) => ({ events: eb('events', '+', value.count) }))
    .where('organization_id', '=', value.organizationId)
    .where('date', '=', value.date),
);

/** Adds to the number of accepted events of each day. */
export async function countAccepted(tx: Db, organizationId: string, counts: ReadonlyMap<Day, number>): Promise<void> {
  for (const [date, count] of counts) if (count > 0) await raiseEvents.all(tx, { organizationId, date, count });
}
