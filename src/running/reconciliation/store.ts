import type { Db } from '../../platform/state/tables.ts';

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

export const findLease = (db: Db, name: string): Promise<Lease | undefined> =>
  db.selectFrom('leases').select(COLUMNS).where('name', '=', name).executeTakeFirst();

/** Renews the lease; false if another process holds it. */
export async function renewLease(tx: Db, { name, holder, renewedAt }: Lease): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('leases')
    .set({ renewed_at: renewedAt })
    .where('name', '=', name)
    .where('holder', '=', holder)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Takes the lease from `previous`, or if there is none. False if another process was faster. */
export async function takeLease(tx: Db, lease: Lease, previous: Lease | undefined): Promise<boolean> {
  const { name, holder, host, pid, renewedAt } = lease;
  const values = { name, holder, host, pid, renewed_at: renewedAt };
  if (!previous) {
    const { numInsertedOrUpdatedRows = 0n } = await tx
      .insertInto('leases')
      .values(values)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    return numInsertedOrUpdatedRows > 0n;
  }
  const { numUpdatedRows } = await tx
    .updateTable('leases')
    .set(values)
    .where('name', '=', name)
    .where('holder', '=', previous.holder)
    .where('renewed_at', '=', previous.renewedAt)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function releaseLease(tx: Db, name: string, holder: string): Promise<void> {
  await tx.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder).execute();
}
