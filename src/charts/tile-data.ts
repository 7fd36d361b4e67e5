import { DEFAULT_LEVEL, getAggregation } from './aggregations.ts';
import type { Buckets } from './buckets.ts';
import type { Points, Value } from './reading.ts';
import type { Tile } from './tile-schema.ts';

export type Series = Tile['series'][number];
/** All of a tile that its drawing depends on. */
export type Drawable = Pick<Tile, 'asRatio' | 'series'>;

/** A tile as it is drawn. */
export type TileData = TimeData | TableData | NumberData | SearchData | MarkdownData;

interface Drawn {
  /** Epoch milliseconds; of a time tile, widened to whole buckets. */
  start: number;
  end: number;
  timezone: string;
}

interface TimeData extends Drawn {
  type: 'time';
  granularity: string;
  /** Where each bucket begins. */
  buckets: number[];
  series: { name: string; group: string[]; isOthers: boolean; values: Value[] }[];
  groups: GroupCount;
}

interface TableData extends Drawn {
  type: 'table';
  columns: { name: string; kind: 'group' | 'value' }[];
  rows: Value[][];
  groups: GroupCount;
}

interface NumberData extends Drawn {
  type: 'number';
  value: Value;
  series: { name: string; value: Value }[];
}

interface SearchData extends Drawn {
  type: 'search';
  columns: { name: string }[];
  /** Newest first. */
  rows: unknown[][];
}

interface MarkdownData {
  type: 'markdown';
  content: string;
}

/** How many groups there are, and how many of them the answer holds. */
interface GroupCount {
  shown: number;
  total: number;
}

interface Named {
  name: string;
  points: Points;
}

export function nameOf({ alias, aggFn, field, metricName, level }: Series): string {
  if (alias) return alias;
  const of = metricName ?? field ?? '';
  const isQuantile = aggFn !== undefined && getAggregation(aggFn).needsLevel;
  const how = isQuantile ? `p${Number(((level ?? DEFAULT_LEVEL) * 100).toFixed(4))}` : (aggFn ?? '');
  return of === '' ? how : `${how}(${of})`;
}

/** `series` decides the kind of tile. */
export function toTileData(series: Series, drawn: Drawn, buckets: Buckets, named: Named[]): TileData {
  if (series.type === 'time') return timeData(drawn, buckets, named);
  if (series.type === 'number') return numberData(drawn, named);
  return tableData(drawn, series.groupBy, named, series.sortOrder ?? 'desc');
}

function timeData(drawn: Drawn, buckets: Buckets, named: Named[]): TimeData {
  return {
    type: 'time',
    ...drawn,
    granularity: buckets.granularity ?? '',
    buckets: buckets.starts,
    series: named.flatMap(({ name, points }) =>
      points.groups.map(({ labels, isOthers, values }) => ({ name, group: labels, isOthers, values })),
    ),
    groups: countOf(named),
  };
}

/** One row for each group, with the value of every series; by the first of them, the largest first unless asked otherwise. */
function tableData(drawn: Drawn, groupBy: readonly string[], named: Named[], order: 'asc' | 'desc'): TableData {
  const rows = new Map<string, { labels: string[]; isOthers: boolean; values: Value[] }>();
  for (const [index, { points }] of named.entries()) {
    for (const { labels, isOthers, values } of points.groups) {
      const id = JSON.stringify([isOthers, labels]);
      const row = rows.get(id) ?? { labels, isOthers, values: named.map(() => null) };
      rows.set(id, row);
      row.values[index] = values[0] ?? null;
    }
  }
  const sorted = [...rows.values()].sort(
    (a, b) =>
      Number(a.isOthers) - Number(b.isOthers) || compared(a.values[0], b.values[0]) * (order === 'asc' ? 1 : -1),
  );
  return {
    type: 'table',
    ...drawn,
    columns: [
      ...groupBy.map((name) => ({ name, kind: 'group' as const })),
      ...named.map(({ name }) => ({ name, kind: 'value' as const })),
    ],
    rows: sorted.map(({ labels, isOthers, values }) => [
      ...(isOthers ? labels.map((_, index) => (index === 0 ? 'others' : '')) : labels),
      ...values,
    ]),
    groups: countOf(named),
  };
}

function numberData(drawn: Drawn, named: Named[]): NumberData {
  const series = named.map(({ name, points }) => ({ name, value: points.groups[0]?.values[0] ?? null }));
  return { type: 'number', ...drawn, value: series[0]?.value ?? null, series };
}

const countOf = (named: Named[]): GroupCount => ({
  shown: Math.max(0, ...named.map(({ points }) => points.groups.filter(({ isOthers }) => !isOthers).length)),
  total: Math.max(0, ...named.map(({ points }) => points.totalGroups)),
});

function compared(a: Value | undefined, b: Value | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : Number(a > b);
  // Nothing is less than something.
  return Number(a !== null && a !== undefined) - Number(b !== null && b !== undefined);
}
