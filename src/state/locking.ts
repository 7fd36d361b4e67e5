import { PostgresAdapter, type SelectQueryBuilder } from 'kysely';
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
