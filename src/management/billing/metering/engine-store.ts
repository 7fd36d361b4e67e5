import type { Day } from '../../../kernel/time/days.ts';
import type { EngineOwnerRow } from '../../../platform/state/billing-tables.ts';
import { lockNumber } from '../../../platform/state/locking.ts';
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

/** The node that may use its embedded engine with this store. */
export interface EngineOwnerRecord {
  /** Identifies one run of the server. */
  node: string;
  /** Identifies the data directory, whatever its path. */
  directory: string;
  host: string;
  pid: number;
  address: string;
  /** By the clock of the store. */
  renewedAt: number;
}

const toOwner = ({ id: _, renewed_at, ...rest }: EngineOwnerRow): EngineOwnerRecord => ({
  ...rest,
  renewedAt: renewed_at,
});

const selectOwner = prepared((db: Db, _: object) =>
  db.selectFrom('engine_owners').selectAll().where('id', '=', ONLY_ROW),
);

export async function findOwner(db: Db): Promise<EngineOwnerRecord | undefined> {
  const [row] = await selectOwner.all(db, {});
  return row && toOwner(row);
}

/** The id of our advisory lock on PostgreSQL. */
const OWNER_LOCK = 0x70_68_6f;

/** As `findOwner`; the owner cannot change until the transaction ends. */
export async function findLockedOwner(tx: Db, mode: 'shared' | 'exclusive'): Promise<EngineOwnerRecord | undefined> {
  await lockNumber(tx, OWNER_LOCK, mode);
  return findOwner(tx);
}

export async function putOwner(tx: Db, { renewedAt, ...rest }: EngineOwnerRecord): Promise<void> {
  const row = { ...rest, renewed_at: renewedAt };
  await tx
    .insertInto('engine_owners')
    .values({ id: ONLY_ROW, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute();
}

/** False if another node is the owner now. */
export async function renewOwner(tx: Db, node: string, renewedAt: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('engine_owners')
    .set({ renewed_at: renewedAt })
    .where('id', '=', ONLY_ROW)
    .where('node', '=', node)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function deleteOwner(tx: Db, node: string): Promise<void> {
  await tx.deleteFrom('engine_owners').where('id', '=', ONLY_ROW).where('node', '=', node).execute();
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
