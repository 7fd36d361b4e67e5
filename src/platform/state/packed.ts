import { type RawBuilder, sql } from 'kysely';

/** Several columns as one string, separated by spaces. The columns must contain neither spaces nor null. */
export const packColumns = (columns: readonly string[]): RawBuilder<string> =>
  sql.join(
    columns.map((column) => sql.ref(column)),
    sql` || ' ' || `,
  );
