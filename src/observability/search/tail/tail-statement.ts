import type { Statement } from '../../../platform/engine/engine.ts';
import { createDraft, type Draft } from '../../charts/queries/draft.ts';
import { limitBytes, MAX_ROW_BYTES } from '../../charts/queries/search-rows.ts';
import type { SeriesQuery } from '../../charts/queries/series-query.ts';
import type { Range } from '../../charts/queries/time-buckets.ts';
import { createWriter } from '../../expressions/writer.ts';
import { toMs } from '../nanos.ts';
import { type FoundRow, ROW_HASH_SQL, writeNanos, writeShown } from '../rows.ts';
import { parseSelect } from '../select-list.ts';

/** Rows that a watcher gets at once. */
const MAX_TAILED_ROWS = 200;

/** The query of a watcher. All queries of a statement read the same table of one organization. */
export interface WatchedQuery {
  query: SeriesQuery;
  select: string;
  /** Epoch nanoseconds of the newest row that was found before. */
  newest: bigint;
}

export interface FoundTimes {
  /** The times of the newest matching rows, newest first. */
  times: bigint[];
  /** Matching rows that are newer than `newest`. */
  arrived: number;
}

/** For each query, the times of its newest rows. One scan for all of them, over the columns of their conditions. */
export function planTailTimes(
  watched: readonly WatchedQuery[],
  range: Range,
): { statement: Statement; collect(rows: unknown[][]): FoundTimes[] } {
  const writer = createWriter();
  const drafts = watched.map(({ query }) => createDraft(query, writer));
  const found = drafts.flatMap((draft, index) => {
    const newest = writer.bind(String(watched[index]?.newest ?? 0n), 'Int64');
    const matches = writeMatch(draft);
    return [`groupArraySortedIf(${MAX_TAILED_ROWS})(-__at, ${matches})`, `countIf(${matches} AND __at > ${newest})`];
  });
  const [first] = drafts;
  const rows = first ? `SELECT *, ${writeNanos(first.time)} AS __at FROM (${first.rows(range)})` : '';
  return {
    statement: { sql: `SELECT ${found.join(', ')} FROM (${rows})`, parameters: writer.parameters },
    collect: ([row = []]) =>
      watched.map((_, index) => ({
        times: ((row[2 * index] ?? []) as (string | number)[]).map((nanos) => -BigInt(nanos)),
        arrived: Number(row[2 * index + 1] ?? 0),
      })),
  };
}

/** The rows of these times, newest first, and which queries they match. */
export function planTailRows(
  watched: readonly WatchedQuery[],
  times: readonly bigint[],
): { statement: Statement; collect(rows: unknown[][]): FoundRow[][] } {
  const writer = createWriter();
  const drafts = watched.map(({ query }) => createDraft(query, writer));
  const shown = createShownColumns();
  const positions = watched.map(({ query, select }, index) =>
    parseSelect(drafts[index] as Draft, query.table, select).map(({ expression }) =>
      shown.add(writeShown(writer, expression)),
    ),
  );
  const [{ time, rows } = createDraft((watched[0] as WatchedQuery).query, writer)] = drafts;
  const matches = drafts.map(writeMatch);
  const selected = [
    `${writeNanos(time)} AS __at`,
    `${ROW_HASH_SQL} AS __hash`,
    ...matches.map((sql, index) => `${sql} AS __m${index}`),
    ...shown.list().map((sql, index) => `${sql} AS __f${index}`),
  ];
  const sorted = [...times].sort((a, b) => (a < b ? -1 : 1));
  const range = { startMs: toMs(sorted[0] ?? 0n), endMs: toMs(sorted.at(-1) ?? 0n) + 1 };
  const wanted = `arrayJoin(arrayMap(t -> toInt64(t), ${writer.bind(sorted.map(String), 'Array(String)')}))`;
  const found =
    `SELECT ${selected.join(', ')} FROM (${rows(range)}) ` +
    `WHERE (${matches.join(' OR ')}) AND ${writeNanos(time)} IN (SELECT ${wanted}) ` +
    // The many rows of one query do not displace the few of another.
    `ORDER BY ${time} DESC, __hash LIMIT ${MAX_TAILED_ROWS} BY ${matches.map((_, index) => `__m${index}`).join(', ')} ` +
    `LIMIT ${writer.bind(MAX_TAILED_ROWS * watched.length, 'UInt32')}`;
  const names = ['__at', '__hash', ...matches.map((_, i) => `__m${i}`), ...shown.list().map((_, i) => `__f${i}`)];
  const sql = limitBytes({ writer, found, names, order: '__at DESC, __hash', maxBytes: MAX_ROW_BYTES });
  return {
    statement: { sql, parameters: writer.parameters },
    collect: (all) =>
      positions.map((columns, index) =>
        all
          .filter((row) => Number(row[3 + index]) !== 0)
          .map(([, nanos, hash, ...rest]) => ({
            nanos: BigInt(String(nanos)),
            hash: String(hash),
            values: columns.map((position) => rest[watched.length + position]),
          })),
      ),
  };
}

/** Equal expressions of several watchers are read once. */
function createShownColumns() {
  const columns = new Map<string, number>();
  return {
    add(sql: string): number {
      const position = columns.get(sql) ?? columns.size;
      columns.set(sql, position);
      return position;
    },
    list: (): string[] => [...columns.keys()],
  };
}

/** 1 if a row matches all conditions, otherwise 0. */
const writeMatch = ({ conditions }: Draft): string =>
  conditions.length === 0 ? '1' : `coalesce(${conditions.map((sql) => `(${sql})`).join(' AND ')}, 0)`;
