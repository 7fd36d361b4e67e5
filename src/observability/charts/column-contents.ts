import type { Column, Limits, Statement } from '../../platform/engine/engine.ts';
import { quoteName } from '../expressions/writer.ts';
import { createDraft } from './queries/draft.ts';
import type { SeriesQuery } from './queries/series-query.ts';

const MAX_KEYS = 100;
const MAX_METRICS = 1000;
/** Enough rows to find most keys. */
const MAX_ROWS = 1_000_000;

/** Lower than the limits of a tile: this only feeds suggestions in the editor. */
export const CONTENTS_LIMITS: Limits = { maxSeconds: 5, maxResultRows: 1, maxMemoryBytes: 200_000_000 };

export interface ColumnContents {
  /** The keys of a map, most frequent first. */
  keys?: string[];
  /** Metric names in alphabetical order. */
  values?: string[];
}

/** Reads map keys and metric names, by column. Undefined if the table has no such column. */
export function planContents(
  query: SeriesQuery,
): { statement: Statement; collect(rows: unknown[][]): Map<string, ColumnContents> } | undefined {
  const listed = query.table.columns.flatMap((column) => {
    if (isMapOfText(column)) return [{ name: column.name, isMap: true }];
    const isMetric = query.metricDataType !== undefined && column.name === 'MetricName';
    return isMetric ? [{ name: column.name, isMap: false }] : [];
  });
  if (listed.length === 0) return undefined;
  const draft = createDraft(query);
  const read = listed.map(({ name, isMap }, index) => {
    const column = quoteName(name);
    return `${isMap ? `mapKeys(${column})` : `toString(${column})`} AS __c${index}`;
  });
  const found = listed.map(({ isMap }, index) =>
    isMap ? `topKArray(${MAX_KEYS})(__c${index})` : `arraySort(groupUniqArray(${MAX_METRICS})(__c${index}))`,
  );
  const sql =
    `SELECT ${found.join(', ')} FROM ` +
    `(SELECT ${read.join(', ')} FROM (${draft.rows()}) LIMIT ${draft.writer.bind(MAX_ROWS, 'UInt32')})`;
  return {
    statement: { sql, parameters: draft.writer.parameters },
    collect: ([row = []]) =>
      new Map(
        listed.map(({ name, isMap }, index) => {
          const list = (row[index] ?? []) as string[];
          return [name, isMap ? { keys: list } : { values: list }];
        }),
      ),
  };
}

const isMapOfText = ({ type }: Column): boolean => /^Map\((String|LowCardinality\(String\)),/.test(type);
