import { performance } from 'node:perf_hooks';
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely';
import pg from 'pg';
import { AppError } from '../../../kernel/errors.ts';
import { createBackgroundLoop } from '../../../kernel/tasks/background-loop.ts';
import { createQueue } from '../../../kernel/tasks/queue.ts';
import { type Clock, MINUTE_MS } from '../../../kernel/time/clock.ts';
import { writeCheck } from '../check.ts';
import { createDiskWarning } from '../disk-warning.ts';
import { isQueryTimeout, isRetryable, toStoreError } from '../failures.ts';
import { registerDirectRunner } from '../prepared.ts';
import type { State, StoreObserver } from '../state.ts';
import { createStatementNames, type StatementNames } from '../statement-names.ts';
import { createStoreClock } from '../store-clock.ts';
import type { Db, Tables } from '../tables.ts';
import { createPoolRunner } from './postgres-reads.ts';
import { createWriteGroups } from './write-groups.ts';

const INT8 = 20;
const POOL_SIZE = 10;
/** Of the connections, for transactions. Those that wait for the lock of one organization would otherwise occupy all of them, and reads would wait too. */
const WRITE_SHARE = 0.75;
/** How long a transaction waits until it can start. */
const MAX_WAIT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5000;
/** The same as for a busy libSQL file. A lock that is never released must not exhaust the pool. */
const LOCK_TIMEOUT_MS = 5000;
/**
 * A node that hangs or disappears inside a transaction must not hold its locks for longer: PostgreSQL ends the
 * transaction and closes the connection. Work with slow statements may also take long between them.
 */
const MIN_IDLE_TRANSACTION_MS = 30_000;
const ATTEMPTS = 5;
/** Between two measurements of the clock of the database. */
const MEASURE_MS = MINUTE_MS;
/** How long `close` waits for the server to close the connections. */
const CLOSE_MS = 2000;

/** The driver's connections have this member; its types omit it. */
type Connection = pg.PoolClient & { unref?(): void };

interface Options {
  url: string;
  clock: Clock;
  observer: StoreObserver;
  /** A statement without a response for this long fails, and its connection is discarded. */
  queryTimeoutMs: number;
  poolSize?: number | undefined;
  /** False for connection poolers that cannot handle prepared statements. */
  usesPreparedStatements?: boolean | undefined;
}

export function openPostgres({
  url,
  clock,
  observer,
  queryTimeoutMs,
  poolSize = POOL_SIZE,
  usesPreparedStatements = true,
}: Options): State {
  const names = createStatementNames(usesPreparedStatements);
  const idleMs = Math.max(MIN_IDLE_TRANSACTION_MS, queryTimeoutMs);
  const diskWarning = createDiskWarning(clock);
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    // A server always has a connection, so that `restore` and `move` can tell that it is running.
    min: 1,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'pilothouse',
    // A server that disappears or hangs without closing its connections must not block the pool forever.
    keepAlive: true,
    query_timeout: queryTimeoutMs,
    // Not a connection parameter: a connection pooler may reject it.
    onConnect: (client) =>
      client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}; SET idle_in_transaction_session_timeout = ${idleMs}`),
    // All our BIGINT columns are safe integers: epoch milliseconds, counters, micro-CHC.
    types: { getTypeParser: (oid, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) },
  });
  // A broken idle connection is replaced on next use. Without a listener, its error would end the process.
  pool.on('error', () => {});
  // The pool listens only to idle connections. A connection that breaks in use fails its query, and its error event must not end the process.
  pool.on('connect', (client) => void client.on('error', () => {}));
  const connections = new Set<Connection>();
  pool.on('connect', (client) => void connections.add(client));
  pool.on('remove', (client) => void connections.delete(client));
  const dialect = new PostgresDialect({ pool: discardHungConnections(pool, names) });
  const db = new Kysely<Tables>({ dialect, log: (event) => observer.query(event.queryDurationMillis / 1000) });
  registerDirectRunner(db, createPoolRunner(pool, names, observer));

  const turns = createQueue({
    concurrency: Math.max(1, Math.floor(poolSize * WRITE_SHARE)),
    maxWaitMs: MAX_WAIT_MS,
    onTimeout: () =>
      new AppError('unavailable', 'The state store is not available: too many changes are waiting', {
        retryAfterSeconds: 1,
      }),
  });
  const transact = <T>(work: (tx: Db) => Promise<T>, changes = 1): Promise<T> =>
    turns.run(() => runWithRetries(work, changes));

  async function runWithRetries<T>(work: (tx: Db) => Promise<T>, changes: number): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const startedAt = performance.now();
      try {
        return await db.transaction().execute(work);
      } catch (error) {
        diskWarning.observe(error);
        const canRetry = names.recover(error) || isRetryable(error);
        if (!canRetry || attempt === ATTEMPTS) throw toStoreError(error);
      } finally {
        observer.commit((performance.now() - startedAt) / 1000, changes);
      }
    }
  }

  const storeClock = createStoreClock(clock);
  async function now(): Promise<number> {
    const { rows } = await sql<{
      ms: number;
    }>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms`.execute(db);
    return storeClock.measured(rows[0]?.ms ?? 0);
  }
  /** For processes that do not ask for another reason, such as the renewal of a lease. */
  const measuring = createBackgroundLoop({ run: async () => void (await now()), everyMs: MEASURE_MS, onError() {} });
  measuring.startAfterPause();

  const groups = createWriteGroups(transact);
  return {
    kind: 'postgres',
    db,
    write: (work, row) => (row ? groups.write(row, work) : transact(work)),
    writeNow: (work) => runWithRetries(work, 1),
    async check() {
      try {
        await writeCheck(db);
      } catch (error) {
        throw toStoreError(error);
      }
    },
    listWarnings: diskWarning.list,
    now,
    clock: storeClock.clock,
    async close() {
      void measuring.close();
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_MS);
      });
      await Promise.race([db.destroy(), timeout]);
      clearTimeout(timer);
      // A server that hangs never closes its end. These connections must not keep the process alive.
      for (const connection of connections) connection.unref?.();
    },
  };
}

/**
 * A connection whose statement timed out still waits for the response, and so would every later statement, including
 * ROLLBACK. Such statements fail at once, and the pool replaces the connection.
 */
function discardHungConnections(pool: pg.Pool, names: StatementNames): PostgresPool {
  const wrapped = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    async connect() {
      const client = await pool.connect();
      const known = wrapped.get(client) ?? wrapClient(client, names);
      wrapped.set(client, known);
      return known;
    },
    end: () => pool.end(),
  };
}

function wrapClient(client: pg.PoolClient, names: StatementNames): PostgresPoolClient {
  let timeout: unknown;

  async function query(text: string, parameters: readonly unknown[] = []): Promise<pg.QueryResult> {
    if (timeout !== undefined) throw timeout;
    try {
      return await client.query({ name: names.find(text), text, values: parameters as unknown[] });
    } catch (error) {
      if (isQueryTimeout(error)) timeout = error;
      throw error;
    }
  }

  // The interface also has a form with cursors, which we do not use.
  return { query: query as never, release: () => client.release(timeout !== undefined) };
}
