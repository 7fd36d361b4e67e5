import type { Compilable } from 'kysely';
import { batched } from './postgres/batched.ts';
import { prepared } from './prepared.ts';
import type { Db } from './tables.ts';

/** Rows per statement: few calls, and far below the parameter limits of both stores. */
const SIZES = [100, 20, 5, 1];

/**
 * Prepares a statement that writes rows, for several numbers of rows: building a statement costs far more
 * than running it. `build` gets placeholders, as in `prepared`. Changes in the same write group write their rows together.
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
  const statements = SIZES.map((size) => ({ size, statement: prepareStatement(size) }));

  const flattenRows = (rows: readonly R[]): unknown[] => {
    const values: unknown[] = [];
    for (const row of rows) for (const column of columns) values.push(row[column]);
    return values;
  };

  return batched(async (tx: Db, rows: readonly R[]): Promise<void> => {
    let start = 0;
    for (const { size, statement } of statements)
      for (; start + size <= rows.length; start += size)
        await statement.first(tx, flattenRows(rows.slice(start, start + size)));
  });
}
