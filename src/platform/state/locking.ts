import { PostgresAdapter, type SelectQueryBuilder, sql } from 'kysely';
import type { Db, Tables } from './tables.ts';

export const isPostgres = (db: Db): boolean => db.getExecutor().adapter instanceof PostgresAdapter;

/**
 * Locks the selected rows until the end of the transaction. Does nothing on libSQL, which has a single writer.
 */
export function lockRows<TB extends keyof Tables, O>(
  db: Db,
  query: SelectQueryBuilder<Tables, TB, O>,
): SelectQueryBuilder<Tables, TB, O> {
  return isPostgres(db) ? query.forNoKeyUpdate() : query;
}

/**
 * Locks a number until the end of the transaction: any number of shared locks, or one exclusive lock. Does nothing on
 * libSQL, which has a single writer.
 */
export async function lockNumber(tx: Db, id: number, mode: 'shared' | 'exclusive'): Promise<void> {
  if (!isPostgres(tx)) return;
  const lock = sql.raw(mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock');
  await sql`SELECT ${lock}(${sql.lit(id)})`.execute(tx);
}
