import { listTables } from '../../platform/state/contents.ts';
import type { State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';

const ONLY_ROW = 1;

/** In the transaction that replaces the state: the restore is complete if it commits. */
export async function completeRestore(tx: Db, restoreId: string, now: number): Promise<void> {
  await tx
    .insertInto('completed_restores')
    .values({ id: ONLY_ROW, restore_id: restoreId, completed_at: now })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ restore_id: restoreId, completed_at: now }))
    .execute();
}

/** The id of the last restore. The store may not be migrated. */
export async function findCompletedRestore(db: Db, kind: State['kind']): Promise<string | undefined> {
  if (!(await listTables(db, kind)).some(({ name }) => name === 'completed_restores')) return undefined;
  const row = await db
    .selectFrom('completed_restores')
    .select('restore_id')
    .where('id', '=', ONLY_ROW)
    .executeTakeFirst();
  return row?.restore_id;
}
