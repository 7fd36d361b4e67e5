import type { Statement } from '../engine/engine.ts';
import type { Source } from '../sources/source.ts';
import { createDraft } from './draft.ts';
import type { SeriesQuery } from './series-query.ts';

/** The newest matching rows: the time, then the requested fields, or the body by default. */
export function planSearch(
  query: SeriesQuery,
  fields: readonly string[],
  { bodyExpression }: Source,
  limit: number,
): { statement: Statement; columns: string[] } {
  const columns = fields.length > 0 ? [...fields] : bodyExpression === undefined ? [] : [bodyExpression];
  const draft = createDraft(query);
  const shown = columns.map((text, index) => draft.writer.write(draft.value(`fields[${index}]`, text)));
  const selected = [`toUnixTimestamp64Milli(toDateTime64(${draft.time}, 3))`, ...shown];
  const sql =
    `SELECT ${selected.join(', ')} FROM (${draft.rows()})${draft.where()} ` +
    `ORDER BY ${draft.time} DESC LIMIT ${draft.writer.bind(limit, 'UInt32')}`;
  return { statement: { sql, parameters: draft.writer.parameters }, columns: [query.table.timeColumn, ...columns] };
}
