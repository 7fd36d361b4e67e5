import type { Column, Limits, Statement } from '../engine/engine.ts';
import { quoteName } from '../expressions/writer.ts';
import { createDraft } from './draft.ts';
import type { SeriesQuery } from './series-query.ts';

const MAX_KEYS = 100;
const MAX_METRICS = 1000;
/** Of a range that holds more, these are enough to know most of what there is. */
const MAX_ROWS = 1_000_000;

/** A help for whoever writes a series: less than what a tile may use up. */
export const CONTENTS_LIMITS: Limits = { maxSeconds: 5, maxResultRows: 1, maxMemoryBytes: 200_000_000 };

export interface ColumnContents {
  /** Of a map, the most frequent first. */
  keys?: string[];
  /** The names of metrics, in order. */
  values?: string[];
}

/** What the rows of a range have in the columns that are worth asking, by column; undefined where there is none. */
export function planContents(
  query: SeriesQuery,
): { statement: Statement; collect(rows: unknown[][]): Map<string, ColumnContents> } | undefined {
  const asked = query.table.columns.flatMap((column) => {
    if (isMapOfText(column)) return [{ name: column.name, isMap: true }];
    const isMetric = query.metricDataType !== undefined && column.name === 'MetricName';
    return isMetric ? [{ name: column.name, isMap: false }] : [];
  });
  if (asked.length === 0) return undefined;
  const draft = createDraft(query);
  const read = asked.map(({ name, isMap }, index) => {
    const column = quoteName(name);
    return `${isMap ? `mapKeys(${column})` : `toString(${column})`} AS __c${index}`;
  });
  const found = asked.map(({ isMap }, index) =>
    isMap ? `topKArray(${MAX_KEYS})(__c${index})` : `arraySort(groupUniqArray(${MAX_METRICS})(__c${index}))`,
  );
  const sql =
    `SELECT ${found.join(', ')} FROM ` +
    `(SELECT ${read.join(', ')} FROM (${draft.rows()}) LIMIT ${draft.writer.bind(MAX_ROWS, 'UInt32')})`;
  return {
    statement: { sql, parameters: draft.writer.parameters },
    collect: ([row = []]) =>
      new Map(
        asked.map(({ name, isMap }, index) => {
          const list = (row[index] ?? []) as string[];
          return [name, isMap ? { keys: list } : { values: list }];
        }),
      ),
  };
}

const isMapOfText = ({ type }: Column): boolean => /^Map\((String|LowCardinality\(String\)),/.test(type);
