import { sql } from 'kysely';
import { AppError } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { lockSchema } from '../migrate.ts';
import type { State } from '../state.ts';
import type { Db } from '../tables.ts';
import { newKey, readKeyFile, replaceKeyFile, type SealingKey } from './key-file.ts';
import { SEALED_TABLES, sealEverythingAgain } from './seal-again.ts';
import { getKeyring, SEALED_COLUMNS } from './sealed-columns.ts';

/**
 * `add`: adds a key that does not encrypt yet. `keep`: encrypts everything with the new key and keeps the old ones, which
 * other nodes may still use. `finish`: also removes the old ones.
 */
export type RotationStage = 'add' | 'keep' | 'finish';

interface Rotation {
  /** Of the key file. */
  path: string;
  /** The id of the new key. */
  keyId: string;
  /** The number of rows that were encrypted again. */
  rows: number;
  removedKeyIds: string[];
}

/** Servers may be running: they read the file again when it was replaced. A rotation that was interrupted is continued by the next one. */
export async function rotateKeys(state: State, stage: RotationStage, clock: Clock): Promise<Rotation> {
  const keyring = getKeyring(state.db);
  const { path } = keyring;
  const keys = readKeyFile(path) ?? [];
  const known = await state.db.selectFrom('secret_keys').select(['id', 'retired_at']).execute();
  const inUse = known.filter(({ retired_at }) => retired_at === null);
  const prepared = keys.find((key) => !known.some(({ id }) => id === key.id));
  // With several keys in use, a rotation was interrupted.
  const next = prepared ?? (inUse.length > 1 ? keys[0] : undefined) ?? newKey();
  const others = keys.filter(({ id }) => id !== next.id);
  if (stage === 'add') {
    if (!prepared) replaceKeyFile(path, [...others, next]);
    return { path, keyId: next.id, rows: 0, removedKeyIds: [] };
  }
  // In this order, so that no text is encrypted with a key that the file does not have.
  replaceKeyFile(path, [next, ...others]);
  await state.write((tx) => registerKey(tx, next, clock.now()));
  const rows = await sealUntilDone(state);
  if (stage === 'keep') return { path, keyId: next.id, rows, removedKeyIds: [] };
  await state.write((tx) => retireOthers(tx, state.kind, next, clock.now()));
  const removed = known.filter(({ id }) => id !== next.id).map(({ id }) => id);
  replaceKeyFile(
    path,
    [next, ...others].filter(({ id }) => !removed.includes(id)),
  );
  const removedKeyIds = others.map(({ id }) => id).filter((id) => removed.includes(id));
  return { path, keyId: next.id, rows, removedKeyIds };
}

const MAX_PASSES = 10;

/** A change that began before the rotation may still store a text with the old key. */
async function sealUntilDone(state: State): Promise<number> {
  let rows = 0;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const changed = await sealEverythingAgain(state, getKeyring(state.db));
    rows += changed;
    if (changed === 0) break;
  }
  return rows;
}

const registerKey = (tx: Db, { id }: SealingKey, now: number) =>
  tx
    .insertInto('secret_keys')
    .values({ id, registered_at: now, sealed_at: now, retired_at: null })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ retired_at: null }))
    .execute();

/** Only if nothing is encrypted with the other keys any more. */
async function retireOthers(tx: Db, kind: State['kind'], { id }: SealingKey, now: number): Promise<void> {
  await lockSchema(tx, kind);
  // Waits for changes that are not committed. A libSQL file has one writer anyway.
  if (kind === 'postgres')
    await sql`LOCK TABLE ${sql.join(SEALED_TABLES.map((table) => sql.table(table)))} IN SHARE MODE`.execute(tx);
  const others = await tx.selectFrom('secret_keys').select('id').where('id', '<>', id).execute();
  for (const other of others)
    for (const table of SEALED_TABLES)
      if (await isUsed(tx, table, other.id))
        throw new AppError(
          'conflict',
          `Rows of ${table} were encrypted with the old key ${other.id} meanwhile: a node has a copy of the key file without the new key. Copy the file to all nodes, then run the command again`,
        );
  await tx
    .updateTable('secret_keys')
    .set({ retired_at: now })
    .where('id', '<>', id)
    .where('retired_at', 'is', null)
    .execute();
}

async function isUsed(tx: Db, table: keyof typeof SEALED_COLUMNS, keyId: string): Promise<boolean> {
  const { column } = SEALED_COLUMNS[table];
  const { rows } = await sql`SELECT 1 AS found FROM ${sql.table(table)}
    WHERE ${sql.ref(column)} LIKE ${`%enc1:${keyId}:%`} LIMIT 1`.execute(tx);
  return rows.length > 0;
}
