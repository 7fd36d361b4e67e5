import { performance } from 'node:perf_hooks';
import { CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { writeCheck } from './check.ts';
import { isRetryable, toStoreError } from './failures.ts';
import type { State, StoreObserver } from './state.ts';
import type { Tables } from './tables.ts';

const INT8 = 20;
const POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 5000;
/** The same as for a busy libSQL file. A lock that is never released must not exhaust the pool. */
const LOCK_TIMEOUT_MS = 5000;
const QUERY_TIMEOUT_MS = 60_000;
const ATTEMPTS = 5;

export function openPostgres(url: string, observer: StoreObserver): State {
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_SIZE,
    // A server always has a connection, so that `restore` and `move` can tell that it is running.
    min: 1,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'pilothouse',
    // A server that disappears without closing its connections must not block the pool or a shutdown forever.
    keepAlive: true,
    query_timeout: QUERY_TIMEOUT_MS,
    // All our BIGINT columns are safe integers: epoch milliseconds, counters, micro-CHC.
    types: { getTypeParser: (oid, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) },
  });
  // A broken idle connection is replaced on next use. Without a listener, its error would end the process.
  pool.on('error', () => {});
  // The pool listens only to idle connections. A connection that breaks in use fails its query, and its error event must not end the process.
  pool.on('connect', (client) => void client.on('error', () => {}));
  const dialect = new PostgresDialect({
    pool,
    // Not a connection parameter: a connection pooler may reject it.
    onCreateConnection: async (connection) =>
      void (await connection.executeQuery(CompiledQuery.raw(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`))),
  });
  const db = new Kysely<Tables>({ dialect, log: (event) => observer.query(event.queryDurationMillis / 1000) });
  return {
    kind: 'postgres',
    db,
    async write(work) {
      for (let attempt = 1; ; attempt++) {
        const startedAt = performance.now();
        try {
          return await db.transaction().execute(work);
        } catch (error) {
          if (!isRetryable(error) || attempt === ATTEMPTS) throw toStoreError(error);
        } finally {
          observer.commit((performance.now() - startedAt) / 1000, 1);
        }
      }
    },
    async check() {
      try {
        await writeCheck(db);
      } catch (error) {
        throw toStoreError(error);
      }
    },
    async now() {
      const { rows } = await sql<{
        ms: number;
      }>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms`.execute(db);
      return rows[0]?.ms ?? 0;
    },
    async close() {
      await db.destroy();
    },
  };
}
