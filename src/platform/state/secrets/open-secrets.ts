import { AppError } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { listTables } from '../contents.ts';
import { lockSchema } from '../migrate.ts';
import type { State } from '../state.ts';
import type { Db } from '../tables.ts';
import { createKeyFile, readKeyFile, type SealingKey } from './key-file.ts';
import { createKeyring, type Keyring } from './keyring.ts';
import { sealEverythingAgain } from './seal-again.ts';
import { getKeyring, setKeyring } from './sealed-columns.ts';

/**
 * Gives an open store the keys of its secrets. The first server of a store creates the key file and registers its key; every
 * other process needs the same file. Then encrypts what an earlier version stored in plain text. `compact` removes the
 * plain text from the free space of the files; it runs only if there was some.
 */
export async function openSecrets(
  state: State,
  { path, clock, compact }: { path: string; clock: Clock; compact(): Promise<boolean> },
): Promise<Keyring> {
  const { keyring, isNew, isSealedFully } = await state.write(async (tx) => {
    // Of two nodes that start at the same time, the second finds the key of the first.
    await lockSchema(tx, state.kind);
    const registered = await listKeysInUse(tx);
    const keys = requireKeys(registered, path) ?? createKeyFile(path);
    const [current] = keys;
    if (current && !registered.some(({ id }) => id === current.id))
      await register(tx, current, { now: clock.now(), isFirst: registered.length === 0 });
    const opened = createKeyring(path, keys);
    setKeyring(tx, opened);
    setKeyring(state.db, opened);
    const isNew = registered.length === 0;
    return { keyring: opened, isNew, isSealedFully: !isNew && registered.every((key) => key.sealed_at !== null) };
  });
  if (isSealedFully) return keyring;
  const changed = await sealEverythingAgain(state, keyring);
  // Otherwise the next start tries again.
  if ((isNew && changed === 0) || (await compact())) await markAsSealed(state, clock.now());
  return keyring;
}

const listKeysInUse = (db: Db) =>
  db.selectFrom('secret_keys').select(['id', 'sealed_at']).where('retired_at', 'is', null).execute();

/** The ids of the keys that a process needs to read the store, which may not be migrated. */
export async function listNeededKeyIds(db: Db, kind: State['kind']): Promise<string[]> {
  if (!(await listTables(db, kind)).some(({ name }) => name === 'secret_keys')) return [];
  return (await listKeysInUse(db)).map(({ id }) => id);
}

/** For `doctor`. */
export async function inspectSecrets({ db }: State) {
  const { path, currentId } = getKeyring(db);
  const inUse = await listKeysInUse(db);
  return {
    path,
    keyId: currentId(),
    isRotating: inUse.length > 1,
    hasPlainText: inUse.some(({ sealed_at }) => sealed_at === null),
  };
}

/** The keys of the file. Undefined if there is none and the store needs none yet. */
function requireKeys(needed: readonly { id: string }[], path: string): SealingKey[] | undefined {
  rejectMissingKeys(
    needed.map(({ id }) => id),
    path,
  );
  return readKeyFile(path);
}

/** Rejects a store or a backup whose secrets cannot be read with the keys of the file. */
export function rejectMissingKeys(needed: readonly string[], path: string): void {
  const keys = readKeyFile(path) ?? [];
  const missing = needed.find((id) => !keys.some((key) => key.id === id));
  if (missing === undefined) return;
  const found = keys.length === 0 ? `there is no file ${path}` : `${path} does not have it`;
  throw new AppError(
    'conflict',
    `The secrets are encrypted with the key ${missing}, and ${found}. Copy the key file of a server that used this data before (by default secrets.key in its --data directory), or name it with --secrets-key-file. All nodes need the same file`,
  );
}

/** The first key of a store is `sealed_at` null until everything of before is encrypted. */
async function register(
  tx: Db,
  { id }: SealingKey,
  { now, isFirst }: { now: number; isFirst: boolean },
): Promise<void> {
  const row = { registered_at: now, sealed_at: isFirst ? null : now, retired_at: null };
  await tx
    .insertInto('secret_keys')
    .values({ id, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ retired_at: null }))
    .execute();
}

const markAsSealed = (state: State, now: number): Promise<unknown> =>
  state.write((tx) => tx.updateTable('secret_keys').set({ sealed_at: now }).where('sealed_at', 'is', null).execute());
