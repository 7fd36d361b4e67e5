import type { Compilable } from 'kysely';
import { prepared } from './prepared.ts';
import type { Db } from './tables.ts';

/** Rows per statement: few calls, and far below the parameter limits of both stores. */
const ROWS_PER_STATEMENT = 20;

/**
 * Prepares a statement that writes rows, once for many rows and once for a single row: building a statement costs far more
 * than running it. `build` gets placeholders, as in `prepared`.
 */
export function preparedRows<R extends object>(
  columns: readonly (keyof R)[],
  build: (db: Db, rows: R[]) => Compilable<unknown>,
) {
  const prepareStatement = (count: number) =>
    prepared((db: Db, value: unknown[]) => {
      const createRow = (_: unknown, index: number): R =>
        Object.fromEntries(columns.map((column, at) => [column, value[index * columns.length + at]])) as R;
      return build(db, Array.from({ length: count }, createRow));
    });
  const many = prepareStatement(ROWS_PER_STATEMENT);
  const single = prepareStatement(1);

  const flattenRows = (rows: readonly R[]): unknown[] => {
    const values: unknown[] = [];
    for (const row of rows) for (const column of columns) values.push(row[column]);
    return values;
  };

  return async (tx: Db, rows: readonly R[]): Promise<void> => {
    const whole = rows.length - (rows.length % ROWS_PER_STATEMENT);
    for (let start = 0; start < whole; start += ROWS_PER_STATEMENT)
      await many.first(tx, flattenRows(rows.slice(start, start + ROWS_PER_STATEMENT)));
    for (const row of rows.slice(whole)) await single.first(tx, flattenRows([row]));
  };
}
