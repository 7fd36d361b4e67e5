import type { Db } from '../../../platform/state/tables.ts';

const ONLY_ROW = 1;

/** The time of the last pass of automatic locking, by the clock of the store. */
export async function findPassedAt(db: Db): Promise<number | undefined> {
  const row = await db.selectFrom('lock_clocks').select('passed_at').where('id', '=', ONLY_ROW).executeTakeFirst();
  return row?.passed_at;
}

export async function putPassedAt(tx: Db, passedAt: number): Promise<void> {
  await tx
    .insertInto('lock_clocks')
    .values({ id: ONLY_ROW, passed_at: passedAt })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ passed_at: passedAt }))
    .execute();
}
