import { createHash } from 'node:crypto';
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
  /** Greater with each acquisition. */
  token: number;
  /** What identifies the process on its machine, as text; empty if that is not known. */
  process: string;
}

const COLUMNS = ['name', 'holder', 'host', 'pid', 'renewed_at as renewedAt', 'token', 'process'] as const;

const selectLease = prepared((db: Db, value: { name: string }) =>
  db.selectFrom('leases').select(COLUMNS).where('name', '=', value.name),
);

export const findLease = async (db: Db, name: string): Promise<Lease | undefined> => selectLease.first(db, { name });

/** The first of the ids of our advisory locks on PostgreSQL: each lease has its own, so that one does not wait for others. */
const LEASE_LOCKS = 0x70_68_6f;
const LOCK_BYTES = 3;

function toLockNumber(name: string): number {
  const hash = createHash('sha256').update(name).digest().readUIntBE(0, LOCK_BYTES);
  return LEASE_LOCKS * 2 ** (8 * LOCK_BYTES) + hash;
}

/** As `findLease`; no process can take the lease from its holder until the transaction ends. */
export async function findLockedLease(
  tx: Db,
  name: string,
  mode: 'shared' | 'exclusive' = 'shared',
): Promise<Lease | undefined> {
  await lockNumber(tx, toLockNumber(name), mode);
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

/** False if the lease was taken since it got this token. */
export async function renewLease(tx: Db, { name, holder, token, renewedAt }: Lease): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('leases')
    .set({ renewed_at: renewedAt })
    .where('name', '=', name)
    .where('holder', '=', holder)
    .where('token', '=', token)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function deleteLease(tx: Db, { name, holder, token }: Pick<Lease, 'name' | 'holder' | 'token'>) {
  await tx
    .deleteFrom('leases')
    .where('name', '=', name)
    .where('holder', '=', holder)
    .where('token', '=', token)
    .execute();
}
