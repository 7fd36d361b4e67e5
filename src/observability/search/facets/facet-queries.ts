import { HOUR_MS } from '../../../kernel/time/clock.ts';
import { OWN_DATABASE, type Statement } from '../../../platform/engine/engine.ts';
import { createDraft } from '../../charts/queries/draft.ts';
import type { SeriesQuery, Table } from '../../charts/queries/series-query.ts';
import type { Range } from '../../charts/queries/time-buckets.ts';
import type { Expression } from '../../expressions/expression.ts';

/** Longer values are not counted. The tables of counted values leave them out too. */
const MAX_VALUE_BYTES = 256;
/** With more different values, counts of the rarer ones are estimated; this bounds the memory. */
const COUNTED_VALUES = 10_000;
export const MAX_KEYS = 500;

/** A table with the number of rows per value and hour, which the engine fills. */
interface CountedValues {
  table: string;
  columns: readonly string[];
}

const COUNTED: Readonly<Record<string, CountedValues>> = {
  otel_logs: {
    table: 'otel_logs_values',
    columns: ['ServiceName', 'SeverityText', 'ResourceAttributes', 'LogAttributes'],
  },
  otel_traces: {
    table: 'otel_traces_values',
    columns: ['ServiceName', 'SpanName', 'SpanKind', 'StatusCode', 'ResourceAttributes', 'SpanAttributes'],
  },
};

export const findCounted = ({ database, name, hasOrganization }: Table): CountedValues | undefined =>
  database === OWN_DATABASE && hasOrganization ? COUNTED[name] : undefined;

/** The keys of the hours in a range, most frequent first. */
export function planKeys(organizationId: string, { table }: CountedValues, { startMs, endMs }: Range) {
  const sql =
    `SELECT toString(Column), toString(Key), sum(Rows) AS rows FROM ${OWN_DATABASE}.${table} ` +
    'WHERE OrganizationId = {organizationId:String} AND Hour >= {start:DateTime} AND Hour < {end:DateTime} ' +
    `GROUP BY 1, 2 ORDER BY rows DESC, 1, 2 LIMIT ${MAX_KEYS}`;
  const start = Math.floor(startMs / HOUR_MS) * HOUR_MS;
  const parameters = { organizationId, start: start / 1000, end: Math.ceil(endMs / 1000) };
  return {
    statement: { sql, parameters },
    collect: (rows: unknown[][]) =>
      rows.map(([column, key, count]) => ({ column: String(column), key: String(key), rows: Number(count) })),
  };
}

/** The first hour of an organization whose values are counted. Rows may be older than the table. */
export function planFirstHour(organizationId: string, { table }: CountedValues) {
  const sql =
    `SELECT toUnixTimestamp(min(Hour)) FROM ${OWN_DATABASE}.${table} ` +
    "WHERE OrganizationId = {organizationId:String} AND Column = 'ServiceName' HAVING count() > 0";
  return {
    statement: { sql, parameters: { organizationId } },
    collect: ([row]: unknown[][]): number | undefined => (row ? Number(row[0]) * 1000 : undefined),
  };
}

/** The whole hours of a range whose values are counted. The first hour of the table may lack rows. */
export function findWholeHours({ startMs, endMs }: Range, firstHourMs: number): Range | undefined {
  const from = Math.max(Math.ceil(startMs / HOUR_MS) * HOUR_MS, firstHourMs + HOUR_MS);
  const to = Math.floor(endMs / HOUR_MS) * HOUR_MS;
  return from < to ? { startMs: from, endMs: to } : undefined;
}

export interface FacetValues {
  values: { value: string; count: number }[];
  /** False if there are so many different values that counts are estimated. */
  isExact: boolean;
  /** The rows with another value. */
  others: number;
}

interface ValuesPlan {
  statement: Statement;
  collect(rows: unknown[][]): FacetValues;
}

interface ReadFrom {
  /** They have the columns of the table of the query. */
  tables: readonly Table[];
  /** The whole hours whose values are counted; the rest of the range is read from the rows themselves. */
  counted?: { hours: Range; values: CountedValues } | undefined;
}

/** Counts the values of a field. */
export function planValues(
  query: SeriesQuery,
  field: { text: string; path: string },
  limit: number,
  { tables, counted }: ReadFrom,
): ValuesPlan {
  const draft = createDraft(query);
  const { writer } = draft;
  const expression = draft.value(field.path, field.text);
  const place = counted && findPlace(expression, counted.values);
  const { startMs, endMs } = query.buckets;
  const text = writer.writeText(expression);
  const fromRows = (range: Range): string[] =>
    (range.startMs < range.endMs ? tables : []).map(
      (table) =>
        `SELECT v, toUInt64(1) AS n FROM (SELECT ${text} AS v FROM (${draft.rows(range, table)})${draft.where()})`,
    );
  const parts = place
    ? [
        ...fromRows({ startMs, endMs: counted.hours.startMs }),
        fromCounts(place, counted.values.table, counted.hours),
        ...fromRows({ startMs: counted.hours.endMs, endMs }),
      ]
    : fromRows({ startMs, endMs });
  const top = `approx_top_sum(${limit}, ${COUNTED_VALUES})(v, n)`;
  const sql =
    // Three arrays: how a tuple is written depends on the version of the engine.
    'SELECT arrayMap(one -> one.1, top), arrayMap(one -> one.2, top), arrayMap(one -> one.3, top), total ' +
    `FROM (SELECT ${top} AS top, sum(n) AS total FROM (${parts.join(' UNION ALL ')}) ` +
    `WHERE v != '' AND length(v) <= ${MAX_VALUE_BYTES})`;
  return { statement: { sql, parameters: writer.parameters }, collect: collectValues };

  function fromCounts({ column, key }: Place, table: string, hours: Range): string {
    const own = `OrganizationId = ${writer.bind(query.organizationId, 'String')}`;
    const place = `Column = ${writer.bind(column, 'String')} AND Key = ${writer.bind(key, 'String')}`;
    const from = writer.bind(hours.startMs / 1000, 'DateTime');
    const to = writer.bind(hours.endMs / 1000, 'DateTime');
    return `SELECT Value AS v, Rows AS n FROM ${OWN_DATABASE}.${table} WHERE ${own} AND ${place} AND Hour >= ${from} AND Hour < ${to}`;
  }
}

function collectValues([row = []]: unknown[][]): FacetValues {
  const [values = [], counts = [], errors = [], total] = row as [string[], unknown[], unknown[], unknown];
  const listed = values.map((value, index) => ({ value, count: Number(counts[index]) }));
  const isExact = errors.every((error) => Number(error) === 0);
  const others = Number(total ?? 0) - listed.reduce((sum, { count }) => sum + count, 0);
  return { values: listed, isExact, others: Math.max(0, others) };
}

/** Where a value is in the tables of counted values. `key` is empty for columns that are not maps. */
interface Place {
  column: string;
  key: string;
}

function findPlace(expression: Expression, { columns }: CountedValues): Place | undefined {
  const { node } = expression;
  if (node === 'column' && expression.type.kind === 'string' && columns.includes(expression.name))
    return { column: expression.name, key: '' };
  if (node !== 'entry' || expression.map.node !== 'column' || !columns.includes(expression.map.name)) return undefined;
  return { column: expression.map.name, key: expression.key };
}
