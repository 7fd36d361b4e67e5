import { type RawBuilder, sql } from 'kysely';
import { isPostgres } from './locking.ts';
import type { Db } from './tables.ts';

/**
 * Whether a text column has one of the values. The values are one parameter: statements are cached, and a statement for
 * each number of values would fill the cache.
 */
export const isIn = (db: Db, column: string, values: Iterable<string>): RawBuilder<boolean> =>
  isPostgres(db)
    ? sql`${sql.ref(column)} = ANY(${[...values]}::text[])`
    : sql`${sql.ref(column)} IN (SELECT value FROM json_each(${JSON.stringify([...values])}))`;
