import type { Db } from './tables.ts';

/** Writes a row, because a store that can be read may still be full, read-only or a standby. */
export async function writeCheck(tx: Db): Promise<void> {
  await tx
    .updateTable('store_checks')
    .set((eb) => ({ count: eb('count', '+', 1) }))
    .where('id', '=', 1)
    .execute();
}
