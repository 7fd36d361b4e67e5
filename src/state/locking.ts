import { PostgresAdapter, type SelectQueryBuilder } from 'kysely';
import type { Db, Tables } from './tables.ts';

/**
 * Holds the selected rows until the transaction ends, so that others who want to change them wait in line. libSQL has
 * one writer: whoever is in a transaction there is alone already.
 */
export function lockRows<TB extends keyof Tables, O>(
  db: Db,
  query: SelectQueryBuilder<Tables, TB, O>,
): SelectQueryBuilder<Tables, TB, O> {
  return db.getExecutor().adapter instanceof PostgresAdapter ? query.forNoKeyUpdate() : query;
}
