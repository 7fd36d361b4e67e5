import type { PartsData } from '../../dashboards/tiles/parts.ts';
import type { Line } from '../../dashboards/tiles/time/time-series.ts';
import { formatValue, type ResultColumn, type ResultRow } from './values.ts';

/** Columns of a chart, by their index in the result. */
export interface ChartColumns {
  x: number;
  values: number[];
}

/** More bars are not readable. */
const MAX_BARS = 50;

/** The first time column, or else the first text, with all numbers. Undefined if the result cannot be drawn. */
export function chooseColumns(columns: readonly ResultColumn[]): ChartColumns | undefined {
  const find = (kind: ResultColumn['kind']) => columns.findIndex((column) => column.kind === kind);
  const x = [find('time'), find('text'), 0].find((index) => index >= 0) ?? 0;
  const values = columns.flatMap(({ kind }, index) => (kind === 'number' && index !== x ? [index] : []));
  return values.length === 0 ? undefined : { x, values };
}

/** The text of a time as epoch milliseconds, as if it were UTC: the chart shows the times that the table shows. */
export function parseTime(value: unknown): number {
  const [, day, time = '00:00:00'] = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d(?:\.\d+)?))?/.exec(String(value)) ?? [];
  return day === undefined ? Number.NaN : Date.parse(`${day}T${time}Z`);
}

const toNumber = (value: unknown): number | null => {
  const number = value === null || value === undefined || value === '' ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : null;
};

interface TimeData {
  buckets: number[];
  lines: Line[];
}

/** The numbers of each key, in the order of the rows. Those of rows with the same key are added up. */
function addUp<Key>(
  rows: readonly ResultRow[],
  values: readonly number[],
  toKey: (row: ResultRow) => Key,
): Map<Key, (number | null)[]> {
  const sums = new Map<Key, (number | null)[]>();
  for (const row of rows) {
    const key = toKey(row);
    const before = sums.get(key);
    sums.set(
      key,
      values.map((column, index) => {
        const [one, other] = [toNumber(row[column]), before?.[index] ?? null];
        return one === null ? other : one + (other ?? 0);
      }),
    );
  }
  return sums;
}

/** One line per column of numbers. */
export function toTimeData(
  columns: readonly ResultColumn[],
  rows: readonly ResultRow[],
  { x, values }: ChartColumns,
): TimeData {
  const sums = addUp(rows, values, (row) => parseTime(row[x]));
  const buckets = [...sums.keys()].filter((at) => !Number.isNaN(at)).sort((a, b) => a - b);
  return {
    buckets,
    lines: listLabels(columns, values).map((label, index) => ({
      label,
      values: buckets.map((at) => sums.get(at)?.[index] ?? null),
    })),
  };
}

/** One bar per category and column of numbers. */
export function toBars(
  columns: readonly ResultColumn[],
  rows: readonly ResultRow[],
  { x, values }: ChartColumns,
): Pick<PartsData, 'parts' | 'groups'> {
  const labels = listLabels(columns, values);
  const sums = [...addUp(rows, values, (row) => formatValue(row[x]))];
  const shown = sums.slice(0, Math.max(1, Math.floor(MAX_BARS / values.length)));
  return {
    parts: shown.flatMap(([category, numbers]) =>
      numbers.map((value, index) => ({ name: labels[index] ?? '', group: [category], isOthers: false, value })),
    ),
    groups: { shown: shown.length, total: sums.length },
  };
}

/** The names of the columns; the second of the same name is `name (2)`. */
function listLabels(columns: readonly ResultColumn[], values: readonly number[]): string[] {
  const names = values.map((column) => columns[column]?.name ?? '');
  return names.map((name, index) => {
    const count = names.slice(0, index).filter((one) => one === name).length;
    return count === 0 ? name : `${name} (${count + 1})`;
  });
}
