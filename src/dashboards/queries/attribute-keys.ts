import type { Column, Limits, Statement } from '../../engine/engine.ts';
import { quoteName } from '../../engine/expressions/writer.ts';
import { createDraft } from './draft.ts';
import type { Reading } from './reading.ts';

const MOST_KEYS = 100;
/** Of a range that holds more, these are enough to know most keys. */
const MOST_ROWS = 1_000_000;

/** Keys are a help for whoever writes a series: less than what a tile may use up. */
export const KEY_LIMITS: Limits = { maxSeconds: 5, maxResultRows: 1, maxMemoryBytes: 200_000_000 };

/** The keys that the rows of a range have in each of the table's maps, the most frequent first; undefined where it has no map. */
export function planKeys(
  reading: Reading,
): { statement: Statement; collect(rows: unknown[][]): Map<string, string[]> } | undefined {
  const maps = reading.table.columns.filter(isMapOfText);
  if (maps.length === 0) return undefined;
  const draft = createDraft(reading);
  const keys = maps.map(({ name }, index) => `mapKeys(${quoteName(name)}) AS __k${index}`);
  const top = maps.map((_, index) => `topKArray(${MOST_KEYS})(__k${index})`);
  const sql =
    `SELECT ${top.join(', ')} FROM ` +
    `(SELECT ${keys.join(', ')} FROM (${draft.rows()}) LIMIT ${draft.writer.bind(MOST_ROWS, 'UInt32')})`;
  return {
    statement: { sql, parameters: draft.writer.parameters },
    collect: ([row = []]) => new Map(maps.map(({ name }, index) => [name, (row[index] ?? []) as string[]])),
  };
}

const isMapOfText = ({ type }: Column): boolean => /^Map\((String|LowCardinality\(String\)),/.test(type);
