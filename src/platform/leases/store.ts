import { lockNumber } from '../state/locking.ts';
import { prepared } from '../state/prepared.ts';
import type { Db } from '../state/tables.ts';

export interface Lease {
  name: string;
  /** Identifies the process. */
  holder: string;
  host: string;
  pid: number;
  /** Epoch milliseconds of the store's clock. */
  renewedAt: number;
}

const COLUMNS = ['name', 'holder', 'host', 'pid', 'renewed_at as renewedAt'] as const;

const selectLease = prepared((db: Db, value: { name: string }) =>
  db.selectFrom('leases').select(COLUMNS).where('name', '=', value.name),
);

export const findLease = async (db: Db, name: string): Promise<Lease | undefined> => selectLease.first(db, { name });

/** The id of our advisory lock on PostgreSQL. */
const LEASE_LOCK = 0x70_68_6f;

/** As `findLease`; no process can take the lease from its holder until the transaction ends. */
export async function findLockedLease(
  tx: Db,
  name: string,
  mode: 'shared' | 'exclusive' = 'shared',
): Promise<Lease | undefined> {
  await lockNumber(tx, LEASE_LOCK, mode);
  return findLease(tx, name);
}

export async function putLease(tx: Db, { renewedAt, ...rest }: Lease): Promise<void> {
  const row = { ...rest, renewed_at: renewedAt };
  await tx
    .insertInto('leases')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
    .execute();
}

/** False if another process holds the lease. */
export async function renewLease(tx: Db, { name, holder, renewedAt }: Lease): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('leases')
    .set({ renewed_at: renewedAt })
    .where('name', '=', name)
    .where('holder', '=', holder)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function deleteLease(tx: Db, name: string, holder: string): Promise<void> {
  await tx.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder).execute();
}
