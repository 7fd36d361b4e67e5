import type { Db } from '../../platform/state/tables.ts';

export async function insertSetupCode(tx: Db, codeHash: string, createdAt: number): Promise<void> {
  await tx.insertInto('setup_codes').values({ code_hash: codeHash, created_at: createdAt }).execute();
}

export async function hasSetupCode(tx: Db, codeHash: string): Promise<boolean> {
  const row = await tx
    .selectFrom('setup_codes')
    .select('code_hash')
    .where('code_hash', '=', codeHash)
    .executeTakeFirst();
  return row !== undefined;
}

/** Deletes all but the newest `retained` codes. */
export async function deleteOldSetupCodes(tx: Db, retained: number): Promise<void> {
  const kept = await tx
    .selectFrom('setup_codes')
    .select('code_hash')
    .orderBy('created_at', 'desc')
    .orderBy('code_hash')
    .limit(retained)
    .execute();
  const hashes = kept.map((row) => row.code_hash);
  const removal = tx.deleteFrom('setup_codes');
  await (hashes.length === 0 ? removal : removal.where('code_hash', 'not in', hashes)).execute();
}
