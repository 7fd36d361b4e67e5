import { type RawBuilder, sql } from 'kysely';

/**
 * Several columns as one text, with blanks between them: both drivers pay by the column. For columns that hold neither
 * blanks nor null.
 */
export const packed = (columns: readonly string[]): RawBuilder<string> =>
  sql.join(
    columns.map((column) => sql.ref(column)),
    sql` || ' ' || `,
  );
