import type { Limits, Statement } from '../../platform/engine/engine.ts';
import { createDraft, type Draft } from '../charts/queries/draft.ts';
import { limitBytes } from '../charts/queries/search-rows.ts';
import type { SeriesQuery } from '../charts/queries/series-query.ts';
import type { Range } from '../charts/queries/time-buckets.ts';
import { STATEMENT_LIMITS } from '../charts/telemetry-queries.ts';
import { type Expression, getKind } from '../expressions/expression.ts';
import type { Writer } from '../expressions/writer.ts';
import type { Tie } from './cursor.ts';
import { toMs } from './nanos.ts';
import { parseOrder, parseSelect, type SelectedColumn } from './select-list.ts';

/** A row with its place in the total order: the time, then a hash of the whole row. */
export interface FoundRow {
  nanos: bigint;
  hash: string;
  values: unknown[];
}

/** A character of a row can take six bytes of JSON. */
export const ROWS_LIMITS: Limits = { ...STATEMENT_LIMITS, maxResultBytes: 16 * 2 ** 20 };

export interface RowLimits {
  rows: number;
  /** At least one row is returned, whatever its size. */
  bytes: number;
}

interface Collected {
  rows: FoundRow[];
  /** The number of rows without the limit of bytes. */
  found: number;
  /** The oldest time of these. */
  oldest: bigint;
}

export interface RowsPlan {
  statement: Statement;
  columns: SelectedColumn[];
  collect(rows: unknown[][]): Collected;
}

/** A hash of all columns: equal for equal rows only. Computed for the returned rows, and for those of the same time. */
export const ROW_HASH_SQL = 'hex(sipHash128(*))';

/** Epoch nanoseconds of a time column of any precision. */
export const writeNanos = (time: string): string => `toUnixTimestamp64Nano(toDateTime64(${time}, 9))`;

const atNanos = (writer: Writer, nanos: bigint): string =>
  `fromUnixTimestamp64Nano(${writer.bind(String(nanos), 'Int64')})`;

/** Rows of a window in the order of time, from a time on that is not included. */
interface Stretch {
  window: Range;
  from: bigint;
  direction: 'newest first' | 'oldest first';
}

/**
 * The next rows of a window. Which rows of the last time are among them is left to the engine: it then reads only the
 * columns of the conditions for all rows, and the others for those that are returned.
 */
export function planStretch(
  query: SeriesQuery,
  select: string,
  { window, from, direction }: Stretch,
  limits: RowLimits,
): RowsPlan {
  const draft = createDraft(query);
  const { time, writer } = draft;
  const isNewest = direction === 'newest first';
  const isNext = `${time} ${isNewest ? '<' : '>'} ${atNanos(writer, from)}`;
  const rows =
    `(SELECT * FROM (${draft.rows(window)})${draft.where(isNext)} ` +
    `ORDER BY ${time}${isNewest ? ' DESC' : ''} LIMIT ${writer.bind(limits.rows, 'UInt32')})`;
  return finish(draft, query, select, rows, isNewest ? '__at DESC, __hash' : '__at, __hash DESC', limits);
}

/** The rows of one time that follow the last returned one, in the order of their hash. */
export function planTied(
  query: SeriesQuery,
  select: string,
  { at, tie: { hash, seen } }: { at: bigint; tie: Tie },
  limits: RowLimits,
): RowsPlan {
  const draft = createDraft(query);
  const { time, writer } = draft;
  const startMs = toMs(at);
  const isNext = `${ROW_HASH_SQL} >= ${writer.bind(hash, 'String')}`;
  const from =
    `(${draft.rows({ startMs, endMs: startMs + 1 })})${draft.where(`${time} = ${atNanos(writer, at)}`, isNext)} ` +
    `ORDER BY __hash LIMIT ${writer.bind(limits.rows, 'UInt32')} OFFSET ${writer.bind(seen, 'UInt64')}`;
  return finish(draft, query, select, from, '__hash', limits);
}

/** The rows of a range in any order. */
export function planOrdered(
  query: SeriesQuery,
  select: string,
  { orderBy, offset }: { orderBy: string; offset: number },
  limits: RowLimits,
): RowsPlan {
  const draft = createDraft(query);
  const { writer } = draft;
  const columns = parseSelect(draft, query.table, select);
  const orders = parseOrder(draft, columns, orderBy);
  const order = orders.map(({ direction }, index) => `__o${index} ${direction}`).join(', ');
  const from =
    `(${draft.rows()})${draft.where()} ORDER BY ${order} ` +
    `LIMIT ${writer.bind(limits.rows, 'UInt32')} OFFSET ${writer.bind(offset, 'UInt32')}`;
  const keys = orders.map(({ expression }, index) => `${writer.write(expression)} AS __o${index}`);
  return finish(draft, query, select, from, order, limits, keys);
}

function finish(
  draft: Draft,
  { table }: SeriesQuery,
  select: string,
  from: string,
  order: string,
  limits: RowLimits,
  keys: readonly string[] = [],
): RowsPlan {
  const { writer, time } = draft;
  const columns = parseSelect(draft, table, select);
  const selected = [
    `${writeNanos(time)} AS __at`,
    `${ROW_HASH_SQL} AS __hash`,
    ...columns.map(({ expression }, index) => `${writeShown(writer, expression)} AS __f${index}`),
    ...keys,
  ];
  const names = ['__oldest', '__at', '__hash', ...columns.map((_, index) => `__f${index}`)];
  const found = `SELECT *, min(__at) OVER () AS __oldest FROM (SELECT ${selected.join(', ')} FROM ${from})`;
  const sql = limitBytes({ writer, found, names, order, maxBytes: limits.bytes });
  return {
    statement: { sql, parameters: writer.parameters },
    columns,
    collect: (rows) => ({
      rows: rows.map(([, , nanos, hash, ...values]) => ({ nanos: BigInt(String(nanos)), hash: String(hash), values })),
      found: Number(rows[0]?.[0] ?? 0),
      oldest: BigInt(String(rows[0]?.[1] ?? 0)),
    }),
  };
}

/** Times in ISO 8601 with all their digits, whatever the time zone of the engine. */
export function writeShown(writer: Writer, expression: Expression): string {
  const sql = writer.write(expression);
  const { element, isDay } = expression.type;
  if (getKind(expression) === 'time' && !isDay) return toIso(sql);
  return element?.kind === 'time' && !element.isDay && getKind(expression) === 'array'
    ? `arrayMap(_t -> ${toIso('_t')}, ${sql})`
    : sql;
}

const toIso = (sql: string): string => `concat(replaceOne(toString(toTimeZone(${sql}, 'UTC')), ' ', 'T'), 'Z')`;
