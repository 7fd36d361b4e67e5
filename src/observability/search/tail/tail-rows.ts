import type { Statement } from '../../../platform/engine/engine.ts';
import { createDraft, type Draft } from '../../charts/queries/draft.ts';
import { limitBytes, MAX_ROW_BYTES } from '../../charts/queries/search-rows.ts';
import type { SeriesQuery } from '../../charts/queries/series-query.ts';
import { createWriter, type Writer } from '../../expressions/writer.ts';
import { type FoundRow, ROW_HASH_SQL, writeNanos, writeShown } from '../rows.ts';
import { parseSelect } from '../select-list.ts';

/** Rows that a watcher gets at once. */
export const MAX_TAILED_ROWS = 200;

/** The query of a watcher. All queries of a statement read the same table of one organization. */
export interface WatchedQuery {
  query: SeriesQuery;
  select: string;
}

interface WantedRows extends WatchedQuery {
  /** SQL of a condition on the time of a row, in epoch nanoseconds. */
  isWanted(writer: Writer, nanos: string): string;
}

/** The wanted rows of each query, newest first. `read` is SQL of the rows to choose from. */
export function planTailRows(
  wanted: readonly WantedRows[],
  read: (draft: Draft) => string,
): { statement: Statement; collect(rows: unknown[][]): FoundRow[][] } {
  const writer = createWriter();
  const drafts = wanted.map(({ query }) => createDraft(query, writer));
  const shown = createShownColumns();
  const positions = wanted.map(({ query, select }, index) =>
    parseSelect(drafts[index] as Draft, query.table, select).map(({ expression }) =>
      shown.add(writeShown(writer, expression)),
    ),
  );
  const [first = createDraft((wanted[0] as WantedRows).query, writer)] = drafts;
  const nanos = writeNanos(first.time);
  const matches = wanted.map(
    ({ isWanted }, index) => `(${isWanted(writer, nanos)} AND ${writeMatch(drafts[index] as Draft)})`,
  );
  const selected = [
    `${nanos} AS __at`,
    `${ROW_HASH_SQL} AS __hash`,
    ...matches.map((sql, index) => `${sql} AS __m${index}`),
    ...shown.list().map((sql, index) => `${sql} AS __f${index}`),
  ];
  const found =
    `SELECT ${selected.join(', ')} FROM (${read(first)}) WHERE ${matches.join(' OR ')} ` +
    // The many rows of one query do not displace the few of another.
    `ORDER BY ${first.time} DESC, __hash LIMIT ${MAX_TAILED_ROWS} BY ${matches.map((_, index) => `__m${index}`).join(', ')} ` +
    `LIMIT ${writer.bind(MAX_TAILED_ROWS * wanted.length, 'UInt32')}`;
  const names = ['__at', '__hash', ...matches.map((_, i) => `__m${i}`), ...shown.list().map((_, i) => `__f${i}`)];
  const sql = limitBytes({ writer, found, names, order: '__at DESC, __hash', maxBytes: MAX_ROW_BYTES });
  return {
    statement: { sql, parameters: writer.parameters },
    collect: (all) =>
      positions.map((columns, index) =>
        all
          .filter((row) => Number(row[3 + index]) !== 0)
          .slice(0, MAX_TAILED_ROWS)
          .map(([, at, hash, ...rest]) => ({
            nanos: BigInt(String(at)),
            hash: String(hash),
            values: columns.map((position) => rest[wanted.length + position]),
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
export const writeMatch = ({ conditions }: Draft): string =>
  conditions.length === 0 ? '1' : `coalesce(${conditions.map((sql) => `(${sql})`).join(' AND ')}, 0)`;
