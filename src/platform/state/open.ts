import { join } from 'node:path';
import { sql } from 'kysely';
import { AppError } from '../../kernel/errors.ts';
import { listMigrations } from '../../kernel/migration.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../kernel/time/clock.ts';
import { toFileError, toStoreError } from './failures.ts';
import { migrate } from './migrate.ts';
import { loadNativePart } from './native-part.ts';
import { assertStoreFile, STORE_CREATORS } from './raw-access.ts';
import { getKeyFilePath } from './secrets/key-file.ts';
import { openSecrets } from './secrets/open-secrets.ts';
import { type State, type StoreObserver, unobserved } from './state.ts';

interface Options {
  dataDirectory: string;
  databaseUrl?: string | undefined;
  /** Default: `secrets.key` in the data directory. */
  secretsKeyFile?: string | undefined;
  /** The maximum number of connections to PostgreSQL. */
  databaseConnections?: number | undefined;
  /** False for connection poolers that cannot handle prepared statements. */
  databasePreparedStatements?: boolean | undefined;
  clock: Clock;
  observer?: StoreObserver;
  /** How long a statement may take on PostgreSQL. Migrations have their own limit. */
  queryTimeoutMs?: number;
  /** Whether a store that does not exist is created. */
  mayCreate?: boolean;
  /** Instead of the clock of the store, for tests. */
  storeClock?: Clock | undefined;
}

const QUERY_TIMEOUT_MS = 60 * SECOND_MS;
/** Also the time that a second node waits while the first one migrates. */
const MIGRATION_TIMEOUT_MS = 10 * MINUTE_MS;

/** Opens the store and migrates its schema. Must be closed. */
export async function openState({ storeClock, ...options }: Options): Promise<State> {
  const state = await openStore(options);
  if (storeClock) return { ...state, clock: storeClock, now: async () => storeClock.now() };
  // From now on, its clock is known without a query.
  await state.now().catch(async (error: unknown) => {
    await state.close();
    throw toStoreError(error);
  });
  return state;
}

async function openStore({
  dataDirectory,
  databaseUrl: url,
  secretsKeyFile,
  databaseConnections,
  databasePreparedStatements,
  clock,
  observer = unobserved,
  queryTimeoutMs = QUERY_TIMEOUT_MS,
  mayCreate = true,
}: Omit<Options, 'storeClock'>): Promise<State> {
  const path = getKeyFilePath(dataDirectory, secretsKeyFile);
  // Only the driver that is used is loaded.
  if (url) {
    const { openPostgres } = await import('./postgres/postgres.ts');
    const migrating = openPostgres({ url, clock, observer: unobserved, queryTimeoutMs: MIGRATION_TIMEOUT_MS });
    if (!mayCreate) await assertStoreTables(migrating);
    await (await openMigrated(() => migrating, clock)).close();
    const state = openPostgres({
      url,
      clock,
      observer,
      queryTimeoutMs,
      poolSize: databaseConnections,
      usesPreparedStatements: databasePreparedStatements,
    });
    // PostgreSQL removes replaced rows itself.
    return withSecrets(state, { path, clock, compact: async () => true });
  }
  const file = join(dataDirectory, 'state.db');
  if (!mayCreate) assertStoreFile(file);
  loadNativePart();
  const { openLibsql, compactLibsql } = await import('./libsql/libsql.ts');
  const state = await openMigrated(() => openLibsql(file, clock, observer), clock).catch((error) =>
    Promise.reject(toFileError(error, file)),
  );
  return withSecrets(state, { path, clock, compact: async () => compactLibsql(file) });
}

async function withSecrets(state: State, options: Parameters<typeof openSecrets>[1]): Promise<State> {
  try {
    await openSecrets(state, options);
    return state;
  } catch (error) {
    await state.close();
    throw error;
  }
}

async function assertStoreTables(state: State): Promise<void> {
  try {
    const { rows } = await sql<{ name: string | null }>`SELECT to_regclass('schema_migrations') AS name`.execute(
      state.db,
    );
    if (rows[0]?.name) return;
    throw new AppError('not_found', `There is no store in the database; check --database-url. ${STORE_CREATORS}`);
  } catch (error) {
    await state.close();
    throw toStoreError(error);
  }
}

async function openMigrated(connect: () => State | Promise<State>, clock: Clock): Promise<State> {
  const state = await connect();
  try {
    await migrate(state, listMigrations('state'), clock);
    return state;
  } catch (error) {
    await state.close();
    throw error;
  }
}
