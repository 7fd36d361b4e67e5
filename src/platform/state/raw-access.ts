import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { AppError } from '../../kernel/errors.ts';
import { MINUTE_MS, SECOND_MS, systemClock } from '../../kernel/time/clock.ts';
import { isBusy, toFileError, toStoreError } from './failures.ts';
import { loadNativePart } from './native-part.ts';
import { type State, unobserved } from './state.ts';
import type { Db } from './tables.ts';

/** A store opened without migrating it, to copy or replace everything in it. */
export interface RawStore {
  readonly kind: State['kind'];
  /** Runs `work` on one snapshot of the store, while other processes may write. */
  read<T>(work: (tx: Db) => Promise<T>): Promise<T>;
  /** Runs `work` in one transaction. On PostgreSQL it may run again after a deadlock. */
  write<T>(work: (tx: Db) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface StoreAddress {
  dataDirectory: string;
  databaseUrl?: string | undefined;
  /** Default: `secrets.key` in the data directory. */
  secretsKeyFile?: string | undefined;
}

interface Access {
  /** Rejects a store that a server uses, and keeps servers from starting on it. */
  isExclusive?: boolean;
  /** Rejects a store that is being restored, after waiting for one whose process has just ended. One process at a time. */
  isForRestore?: boolean;
  /** Creates the libSQL file if it does not exist. */
  mayCreate?: boolean;
}

/** Only these commands create a store: one that reads would otherwise show an empty fleet after a typing error. */
export const STORE_CREATORS = 'pilothouse serve, demo, apply, init and restore create one';

export function assertStoreFile(path: string): void {
  if (existsSync(path)) return;
  const text = `There is no store in ${dirname(path)}: ${path} does not exist; check --data`;
  throw new AppError('not_found', `${text}. ${STORE_CREATORS}`);
}

/** Must be closed. */
export async function openRawStore({ dataDirectory, databaseUrl }: StoreAddress, access: Access): Promise<RawStore> {
  if (databaseUrl) return openPostgresStore(databaseUrl, access);
  const path = join(dataDirectory, 'state.db');
  if (!access.mayCreate) assertStoreFile(path);
  try {
    return await openLibsqlStore(path, access);
  } catch (error) {
    if (isBusy(error))
      throw new AppError('conflict', `Another process uses the store ${path}; stop the server first`, { cause: error });
    throw toFileError(error, path);
  }
}

async function openLibsqlStore(path: string, { isExclusive = false, isForRestore = false }: Access): Promise<RawStore> {
  loadNativePart();
  const { openConnection } = await import('./libsql/libsql-connection.ts');
  // The lock of an exclusive connection stays until the process ends, and this process continues to use the store.
  const isWriting = isForRestore && !isExclusive;
  const { db, close } = openConnection(path, { isExclusive, isWriting });
  const run = async <T>(work: (tx: Db) => Promise<T>): Promise<T> => {
    try {
      return await (isWriting ? work(db) : db.transaction().execute(work));
    } catch (error) {
      throw toStoreError(error);
    }
  };
  return { kind: 'libsql', read: run, write: run, close };
}

/** Differs from the name of servers and other commands, which are counted as users of the database. */
const OWN_NAME = 'pilothouse copy';
const APPLICATION_NAME = 'application_name';
/** Copying a table takes long. */
const QUERY_TIMEOUT_MS = 60 * MINUTE_MS;

async function openPostgresStore(
  url: string,
  { isExclusive = false, isForRestore = false }: Access,
): Promise<RawStore> {
  const { openPostgres } = await import('./postgres/postgres.ts');
  const address = new URL(url);
  const usedName = address.searchParams.get(APPLICATION_NAME) ?? 'pilothouse';
  address.searchParams.set(APPLICATION_NAME, OWN_NAME);
  const state = openPostgres({
    url: address.href,
    clock: systemClock,
    observer: unobserved,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
  });
  let release = async () => {};
  try {
    if (isForRestore) release = await holdRestoreLock(state.db);
    if (isExclusive) await rejectUsers(state.db, usedName);
  } catch (error) {
    await release();
    await state.close();
    throw toStoreError(error);
  }
  return {
    kind: 'postgres',
    read: async (work) => {
      const transaction = state.db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
      return transaction.execute(work).catch((error) => Promise.reject(toStoreError(error)));
    },
    write: (work) => state.write(work),
    async close() {
      await release();
      await state.close();
    },
  };
}

/** Any number that differs from that of the migrations. */
const RESTORE_LOCK = 7_120_356_002;
/** The database ends the transaction of a process that was killed when its statement is complete. */
const RESTORE_LOCK_MS = 30 * SECOND_MS;

/** In a separate transaction: connection poolers may give the next statement to another session. Returns the function that ends it. */
function holdRestoreLock(db: Db): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    const held = db.transaction().execute(async (tx) => {
      await sql`SET LOCAL lock_timeout = ${sql.lit(RESTORE_LOCK_MS)}`.execute(tx);
      await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(tx);
      await sql`SELECT pg_advisory_xact_lock(${sql.lit(RESTORE_LOCK)})`.execute(tx);
      await new Promise<void>((release) => {
        resolve(async () => {
          release();
          await held.catch(() => {});
        });
      });
    });
    held.catch((error: { code?: string }) =>
      reject(
        error.code === LOCK_NOT_AVAILABLE
          ? new AppError('conflict', 'Another restore of the database is running; wait until it ends', { cause: error })
          : error,
      ),
    );
  });
}

const LOCK_NOT_AVAILABLE = '55P03';

/** A running server keeps at least one connection open. */
async function rejectUsers(db: Db, applicationName: string): Promise<void> {
  const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = ${applicationName}`.execute(db);
  const count = rows[0]?.count ?? 0;
  if (count > 0)
    throw new AppError(
      'conflict',
      `Pilothouse has open connections to the database (${count}); stop every server that uses it first`,
    );
}
