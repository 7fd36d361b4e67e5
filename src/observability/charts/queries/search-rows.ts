import type { Statement } from '../../../platform/engine/engine.ts';
import type { Writer } from '../../expressions/writer.ts';
import type { Source } from '../../sources/source.ts';
import { createDraft } from './draft.ts';
import type { SeriesQuery } from './series-query.ts';

/** Rows beyond this size are left out: as JSON they can be twice as large, which is the limit of a statement. */
export const MAX_ROW_BYTES = 2 * 2 ** 20;

interface SearchRows {
  /** Newest first. */
  rows: unknown[][];
  /** The response has fewer rows than were found, because they are too large. */
  truncated: boolean;
}

/** The newest matching rows: the time, then the requested fields, or the body by default. At least one row is read. */
export function planSearch(
  query: SeriesQuery,
  fields: readonly string[],
  { bodyExpression }: Source,
  limit: number,
): { statement: Statement; columns: string[]; collect(rows: unknown[][]): SearchRows } {
  const columns = fields.length > 0 ? [...fields] : bodyExpression === undefined ? [] : [bodyExpression];
  const { writer, time, ...draft } = createDraft(query);
  const values = columns.map((text, index) => writer.write(draft.value(`fields[${index}]`, text)));
  const names = ['__at', ...values.map((_, index) => `__f${index}`)];
  const selected = [
    `${time} AS __time`,
    `toUnixTimestamp64Milli(toDateTime64(${time}, 3)) AS __at`,
    ...values.map((sql, index) => `${sql} AS __f${index}`),
  ];
  const found =
    `SELECT ${selected.join(', ')} FROM (${draft.rows()})${draft.where()} ` +
    `ORDER BY ${time} DESC LIMIT ${writer.bind(limit, 'UInt32')}`;
  const sql = limitBytes({ writer, found, names, order: '__time DESC', maxBytes: MAX_ROW_BYTES });
  return {
    statement: { sql, parameters: writer.parameters },
    columns: [query.table.timeColumn, ...columns],
    collect: (rows) => ({
      rows: rows.map(([, ...shown]) => shown),
      truncated: rows.length < Number(rows[0]?.[0] ?? 0),
    }),
  };
}

interface FoundRows {
  writer: Writer;
  /** A statement with the columns `names` and those of `order`. */
  found: string;
  names: readonly string[];
  order: string;
  maxBytes: number;
  /** The first column: the number of rows without the limit, or the size of the rows so far. */
  first?: '__found' | '__bytes';
}

/** The first rows of a statement in its order, up to this size, but at least one. */
export function limitBytes({ writer, found, names, order, maxBytes, first = '__found' }: FoundRows): string {
  const measured =
    `SELECT *, count() OVER () AS __found, row_number() OVER newest AS __row, ` +
    `sum(byteSize(${names.join(', ')})) OVER newest AS __bytes FROM (${found}) ` +
    `WINDOW newest AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)`;
  return (
    `SELECT ${first}, ${names.join(', ')} FROM (${measured}) ` +
    `WHERE __row = 1 OR __bytes <= ${writer.bind(maxBytes, 'UInt32')} ORDER BY __row`
  );
}
