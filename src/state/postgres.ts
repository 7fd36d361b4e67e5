import { performance } from 'node:perf_hooks';
import { CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { writeCheck } from './check.ts';
import { isRetryable, toStoreError } from './failures.ts';
import type { State, StoreObserver } from './state.ts';
import type { Tables } from './tables.ts';

const INT8 = 20;
const POOL_SIZE = 10;
const CONNECT_WITHIN_MS = 5000;
/** As long as libSQL waits for a busy file. A lock that nobody gives back must not take the whole pool with it. */
const LOCKED_FOR_MS = 5000;
const ANSWER_WITHIN_MS = 60_000;
const ATTEMPTS = 5;

export function openPostgres(url: string, observer: StoreObserver): State {
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    application_name: 'pilothouse',
    // A server that went away without a word must not hold the pool, or a stop, for ever.
    keepAlive: true,
    query_timeout: ANSWER_WITHIN_MS,
    // Every BIGINT of ours is a safe integer: epoch milliseconds, counters, micro-CHC.
    types: { getTypeParser: (oid, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) },
  });
  // An idle connection that breaks is replaced on next use; without a listener it would end the process.
  pool.on('error', () => {});
  // The pool listens only while a connection is idle. One that breaks in use fails its query; its event must not end the process either.
  pool.on('connect', (client) => void client.on('error', () => {}));
  const dialect = new PostgresDialect({
    pool,
    // Not a connection parameter: a pooler in between may refuse those.
    onCreateConnection: async (connection) =>
      void (await connection.executeQuery(CompiledQuery.raw(`SET lock_timeout = ${LOCKED_FOR_MS}`))),
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
