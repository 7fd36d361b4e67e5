import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import {
  insertRows,
  isStoreEmpty,
  listTables,
  readHistory,
  readRows,
  replaceContents,
  type StoreTable,
  type StoreValue,
} from '../../platform/state/contents.ts';
import { openRawStore, type RawStore, type StoreAddress } from '../../platform/state/raw-access.ts';
import { getKeyFilePath, readKeyFile, replaceKeyFile } from '../../platform/state/secrets/key-file.ts';
import { listNeededKeyIds, rejectMissingKeys } from '../../platform/state/secrets/open-secrets.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { CopiedTable, CopyOptions } from './backup.ts';
import { createDigest, emptyDigest, type RowDigest } from './row-digest.ts';

interface MoveOptions extends CopyOptions {
  target: StoreAddress;
}

const ROWS_PER_BATCH = 500;

/** Copies the whole state to another, empty store, and verifies the copy before it commits. The engine stays where it is. */
export async function move({ stores, target, signal, onProgress }: MoveOptions): Promise<CopiedTable[]> {
  rejectOtherDirectory(stores, target);
  const copied: CopiedTable[] = [];
  const from = await openRawStore(stores, { isExclusive: true });
  let to: RawStore | undefined;
  try {
    const store = await openRawStore(target, { isExclusive: true, mayCreate: true });
    to = store;
    if (!(await store.read((tx) => isStoreEmpty(tx, store.kind))))
      throw new AppError('conflict', 'The new store is not empty; move to an empty database or directory');
    await from.read(async (source) => {
      await prepareKeyFile(source, from.kind, stores, target);
      const applied = await readHistory(source, from.kind);
      if (applied.length === 0)
        throw new AppError('not_found', 'The store has no tables yet; there is nothing to move');
      await replaceContents(store, {
        applied,
        clock: stores.clock,
        async load(tx, targetTables) {
          copied.length = 0;
          for (const table of await listTables(source, from.kind)) {
            signal.throwIfAborted();
            const read = await copyTable({ source, tx, table, kind: from.kind });
            onProgress(`${table.name}: ${read.rows} rows`);
            const written = await digestTable(tx, store.kind, targetTables, table.name);
            if (read.rows !== written.rows || read.sum !== written.sum)
              throw new AppError(
                'internal',
                `The rows of ${table.name} differ after copying: ${read.rows} read, ${written.rows} written. Nothing was stored`,
              );
            copied.push({ part: 'state', name: table.name, rows: read.rows });
          }
        },
      });
    });
    return copied;
  } finally {
    await to?.close();
    await from.close();
  }
}

/** The embedded store and the embedded engine use the same --data directory. */
function rejectOtherDirectory(stores: CopyOptions['stores'], target: StoreAddress): void {
  if (target.databaseUrl !== undefined) {
    if (target.databaseUrl === stores.databaseUrl)
      throw new AppError('conflict', 'The store is in this database already');
    return;
  }
  const [current, next] = [resolve(stores.dataDirectory), resolve(target.dataDirectory)];
  if (current === next && stores.databaseUrl === undefined)
    throw new AppError('conflict', `The store is in ${next} already`);
  if (current === next || stores.clickhouseUrl !== undefined || !existsSync(join(current, 'engine'))) return;
  throw new AppError(
    'conflict',
    `The embedded engine is in ${current} and must be in the directory of the store; use --to ${current}`,
  );
}

/** A store in another directory uses the key file there: without one, it gets a copy. */
async function prepareKeyFile(
  source: Db,
  kind: RawStore['kind'],
  { dataDirectory, secretsKeyFile }: StoreAddress,
  target: StoreAddress,
): Promise<void> {
  if (secretsKeyFile !== undefined || target.databaseUrl !== undefined) return;
  const needed = await listNeededKeyIds(source, kind);
  const [path, nextPath] = [dataDirectory, target.dataDirectory].map((directory) =>
    getKeyFilePath(directory, undefined),
  );
  if (needed.length === 0 || path === undefined || nextPath === undefined) return;
  if (readKeyFile(nextPath) !== undefined) return rejectMissingKeys(needed, nextPath);
  rejectMissingKeys(needed, path);
  replaceKeyFile(nextPath, readKeyFile(path) ?? []);
}

interface TableCopy {
  source: Db;
  tx: Db;
  table: StoreTable;
  kind: RawStore['kind'];
}

async function copyTable({ source, tx, table, kind }: TableCopy): Promise<RowDigest> {
  const digest = emptyDigest();
  const add = createDigest(table, digest);
  let batch: StoreValue[][] = [];
  for await (const row of readRows(source, kind, table)) {
    add(row);
    batch.push(row);
    if (batch.length < ROWS_PER_BATCH) continue;
    await insertRows(tx, table, batch);
    batch = [];
  }
  await insertRows(tx, table, batch);
  return digest;
}

async function digestTable(
  tx: Db,
  kind: RawStore['kind'],
  tables: readonly StoreTable[],
  name: string,
): Promise<RowDigest> {
  const digest = emptyDigest();
  const table = tables.find((candidate) => candidate.name === name);
  if (!table) return digest;
  const add = createDigest(table, digest);
  for await (const row of readRows(tx, kind, table)) add(row);
  return digest;
}
