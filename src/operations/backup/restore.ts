import { AppError } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import { type AppliedMigration, listMigrations } from '../../kernel/migration.ts';
import type { Day } from '../../kernel/time/days.ts';
import { listEventDays, markEventDays } from '../../management/billing/metering/event-days.ts';
import { ORGANIZATION_COLUMN } from '../../platform/engine/engine.ts';
import { isEngineRunning, openEngineSource } from '../../platform/engine/transfer/source.ts';
import { type EngineTarget, openEngineTarget } from '../../platform/engine/transfer/target.ts';
import {
  countRows,
  insertRows,
  isStoreEmpty,
  listOrganizationIds,
  replaceContents,
  type StoreTable,
  type StoreValue,
} from '../../platform/state/contents.ts';
import { openRawStore, type RawStore } from '../../platform/state/raw-access.ts';
import { getKeyFilePath } from '../../platform/state/secrets/key-file.ts';
import { rejectMissingKeys } from '../../platform/state/secrets/open-secrets.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { CopiedTable, CopyOptions } from './backup.ts';
import { createDirectorySwap, type DirectorySwap, settleSwap } from './directory-swap.ts';
import { type BackupReader, openBackup } from './file-reader.ts';
import type { Header } from './format.ts';
import { settle } from './interrupted-restore.ts';
import { completeRestore, findCompletedRestore } from './store.ts';

interface RestoreOptions extends CopyOptions {
  file: string;
  /** Replace a store or an engine that is not empty. */
  force: boolean;
}

interface RestoreResult {
  header: Header;
  tables: CopiedTable[];
}

/** Replaces the state and the engine with the contents of a file. The state changes in one transaction, at the end. */
export async function restore(options: RestoreOptions): Promise<RestoreResult> {
  const { file, force, stores, signal, onProgress } = options;
  const backup = await openBackup(file, (bytes, total) => {
    signal.throwIfAborted();
    onProgress(`verifying ${file}: ${Math.floor((bytes / total) * 100)}%`);
  });
  try {
    rejectNewer(file, backup.header, backup.header.stateMigrations, listMigrations('state'));
    rejectNewer(file, backup.header, backup.header.engineMigrations, listMigrations('engine'));
    rejectMissingKeys(backup.header.secretKeys ?? [], getKeyFilePath(stores.dataDirectory, stores.secretsKeyFile));
    const store = await openRawStore(stores, { isExclusive: true, isForRestore: true, mayCreate: true });
    try {
      if (!stores.clickhouseUrl) await settle(store, stores.dataDirectory, stores.log);
      await rejectUsedEngine(options);
      if (!force && !(await store.read((tx) => isStoreEmpty(tx, store.kind))))
        throw new AppError('conflict', 'The store is not empty; replace everything in it with --force');
      await replaceAll(backup, store, options);
    } finally {
      await store.close();
    }
    const tables = [...backup.tables].map(([{ part, name }, rows]) => ({ part, name, rows }));
    return { header: backup.header, tables };
  } finally {
    await backup.close();
  }
}

function rejectNewer(
  file: string,
  { version }: Header,
  applied: readonly AppliedMigration[],
  available: readonly AppliedMigration[],
): void {
  for (const { name, checksum } of applied) {
    const known = available.find((migration) => migration.name === name);
    if (known?.checksum === checksum) continue;
    const reason = known ? `${name} has different contents here` : `${name} is not known here`;
    throw new AppError(
      'conflict',
      `${file} was made by Pilothouse ${version}, whose migrations differ from those of this version: ${reason}. Restore it with that version`,
    );
  }
}

/** Rejects the engine of a running server, and without --force one that has rows of an organization. */
async function rejectUsedEngine({ stores, force, signal }: RestoreOptions): Promise<void> {
  if (!stores.clickhouseUrl && (await isEngineRunning(stores.dataDirectory)))
    throw new AppError('conflict', `A server is using the engine in ${stores.dataDirectory}; stop it first`);
  // The engine that will be replaced may be damaged.
  if (force) return;
  const engine = await openEngineSource({ ...stores, signal });
  if (!engine) return;
  try {
    for (const table of engine.tables)
      if (table.columns.includes(ORGANIZATION_COLUMN) && (await engine.countRows(table)) > 0)
        throw new AppError(
          'conflict',
          `The engine is not empty: its table ${table.name} has rows; replace everything in it with --force`,
        );
  } finally {
    await engine.close();
  }
}

async function replaceAll(backup: BackupReader, store: RawStore, options: RestoreOptions): Promise<void> {
  const { stores } = options;
  const { dataDirectory, clock } = stores;
  const id = newUuid();
  // The embedded engine is restored to a separate directory, so that a failure changes nothing.
  const swap = stores.clickhouseUrl ? undefined : createDirectorySwap(dataDirectory, id);
  swap?.prepare();
  try {
    const days = await loadEngine(backup, options, swap);
    await replaceContents(store, {
      applied: backup.header.stateMigrations,
      clock,
      load: (tx, tables) => loadState(tx, tables, backup, options),
      async finish(tx) {
        await markDays(tx, days);
        await completeRestore(tx, id, clock.now());
        swap?.apply();
      },
    });
  } catch (error) {
    // The commit may have succeeded although its response was lost. If the store cannot be read, the next start checks again.
    const completed = await store.read((tx) => findCompletedRestore(tx, store.kind)).catch(() => Promise.reject(error));
    if (swap) settleSwap(dataDirectory, completed === id);
    if (completed !== id) throw error;
    return;
  }
  if (swap) settleSwap(dataDirectory, true);
}

/** Returns the days that have usage events. */
async function loadEngine(
  backup: BackupReader,
  options: RestoreOptions,
  swap: DirectorySwap | undefined,
): Promise<ReadonlyMap<string, Day[]>> {
  const { engineMigrations } = backup.header;
  if (swap && engineMigrations.length === 0) return new Map();
  const target = openEngineTarget({
    ...options.stores,
    ...(swap ? { dataDirectory: swap.directory } : {}),
  });
  try {
    await target.createTables(engineMigrations);
    await loadEngineRows(backup, target, options);
    await target.engine.start();
    return await listEventDays(target.engine);
  } catch (error) {
    if (swap) throw error;
    throw new AppError(
      'unavailable',
      `${(error as Error).message}. The state is unchanged, but the tables of the ClickHouse server are incomplete: restore again with --force`,
      { cause: error },
    );
  } finally {
    await target.close();
  }
}

async function loadEngineRows(
  backup: BackupReader,
  target: EngineTarget,
  { signal, onProgress }: RestoreOptions,
): Promise<void> {
  const counts = new Map<string, number>();
  for await (const { table, rows, readContent } of backup.readChunks()) {
    if (table.part !== 'engine') continue;
    signal.throwIfAborted();
    await target.insertRows(table.name, table.columns, await readContent());
    const count = (counts.get(table.name) ?? 0) + rows;
    counts.set(table.name, count);
    onProgress(`engine ${table.name}: ${count} rows`);
  }
}

async function loadState(
  tx: Db,
  tables: readonly StoreTable[],
  backup: BackupReader,
  { signal, onProgress }: RestoreOptions,
): Promise<void> {
  for await (const { table, rows, readContent } of backup.readChunks()) {
    if (table.part !== 'state') break;
    signal.throwIfAborted();
    const lines = (await readContent()).toString('utf8').trimEnd().split('\n');
    await insertRows(
      tx,
      table,
      lines.map((line) => JSON.parse(line) as StoreValue[]),
    );
    onProgress(`state ${table.name}: ${rows} rows`);
  }
  for (const [{ part, name }, rows] of backup.tables) {
    if (part !== 'state') continue;
    const stored = tables.find((table) => table.name === name);
    const count = stored ? await countRows(tx, stored) : 0;
    if (count !== rows) throw new AppError('internal', `The table ${name} has ${count} rows instead of ${rows}`);
  }
}

/** The engine may hold events that are newer than the state: their days must exist and be rated. */
async function markDays(tx: Db, days: ReadonlyMap<string, Day[]>): Promise<void> {
  for (const organizationId of await listOrganizationIds(tx))
    await markEventDays(tx, organizationId, days.get(organizationId) ?? []);
}
