import type { Expression } from '../../expressions/expression.ts';
import { DEFAULT_LEVEL, getAggregation } from '../aggregations.ts';
import type { Points, Value } from '../queries/series-query.ts';
import { type ColumnOrder, findColumnOrders } from '../queries/sort-order.ts';
import type { PartialBucket, TimeBuckets } from '../queries/time-buckets.ts';
import type { Scale } from '../queries/value-bins.ts';
import type { Unit } from '../units.ts';
import type { Tile } from './tile-schema.ts';

export type Series = Tile['series'][number];
/** The members of a tile that affect its data. A search adds its filters, a viewer conditions. */
export type RenderableTile = Pick<Tile, 'asRatio' | 'config'> & {
  series: (Series & { filters?: readonly string[] | undefined; conditions?: readonly Expression[] })[];
};

/** The data of a tile, in the form in which it is displayed. */
export type TileData =
  | TimeData
  | TableData
  | NumberData
  | PartsData
  | HeatmapData
  | HistogramData
  | SearchData
  | MarkdownData;

/** Only if the unit is known. */
interface WithUnit {
  unit?: Unit;
}

/** A filter of the viewer that the sources of a tile cannot apply. */
export interface UnappliedFilter {
  /** Its index. */
  filter: number;
  reason: string;
}

interface TileFrame {
  /** Epoch milliseconds. The range of a time tile is extended to whole buckets. */
  start: number;
  end: number;
  timezone: string;
  /** Only if there are any. */
  unappliedFilters?: UnappliedFilter[];
}

interface TimeData extends TileFrame {
  type: 'time';
  granularity: string;
  /** The start of each bucket. */
  buckets: number[];
  /** Only if there are any. */
  partialBuckets?: PartialBucket[];
  series: ({ name: string; seriesIndex: number; group: string[]; isOthers: boolean; values: Value[] } & WithUnit)[];
  groups: GroupCount;
}

interface TableData extends TileFrame {
  type: 'table';
  columns: ({ name: string; kind: 'group' | 'value' } & WithUnit)[];
  rows: Value[][];
  groups: GroupCount;
}

interface NumberData extends TileFrame {
  type: 'number';
  value: Value;
  series: ({ name: string; value: Value } & WithUnit)[];
}

/** Slices of a pie, or bars. */
interface PartsData extends TileFrame {
  type: 'pie' | 'bar';
  /** Largest first; the others last. */
  parts: ({ name: string; group: string[]; isOthers: boolean; value: Value } & WithUnit)[];
  groups: GroupCount;
}

/** Colored cells by time. A row is a range of values, or a group. */
export interface HeatmapData extends TileFrame, WithUnit {
  type: 'heatmap';
  mode: 'distribution' | 'series';
  name: string;
  granularity: string;
  buckets: number[];
  partialBuckets?: PartialBucket[];
  scale: Scale;
  /** Lowest values first, or largest groups first. */
  rows: { from?: number; to?: number; group?: string[]; isOthers?: boolean; values: Value[] }[];
}

/** How often the values of a field are in each bin. */
export interface HistogramData extends TileFrame, WithUnit {
  type: 'histogram';
  name: string;
  scale: Scale;
  count: number;
  bins: { from: number; to: number; count: number }[];
}

interface SearchData extends TileFrame {
  type: 'search';
  columns: { name: string }[];
  /** Newest first. */
  rows: unknown[][];
  /** Further rows within the limit were left out because of their size. */
  truncated: boolean;
}

interface MarkdownData {
  type: 'markdown';
  content: string;
}

/** The number of groups, and how many of them the response contains. */
interface GroupCount {
  shown: number;
  total: number;
}

export interface NamedPoints {
  name: string;
  unit?: Unit | undefined;
  /** The value of a group without rows. */
  empty: Value;
  points: Points;
}

const withUnit = ({ unit }: NamedPoints): WithUnit => (unit === undefined ? {} : { unit });

export function formatSeriesName({
  alias,
  aggFn,
  field,
  metricName,
  level,
}: Pick<Series, 'alias' | 'field' | 'metricName' | 'level'> & { aggFn?: Series['aggFn'] | undefined }): string {
  if (alias) return alias;
  const operand = metricName ?? field ?? '';
  if (aggFn === undefined) return operand;
  const isQuantile = aggFn !== undefined && getAggregation(aggFn).needsLevel;
  const aggregation = isQuantile ? `p${Number(((level ?? DEFAULT_LEVEL) * 100).toFixed(4))}` : (aggFn ?? '');
  return operand === '' ? aggregation : `${aggregation}(${operand})`;
}

export function toTimeData(
  frame: TileFrame,
  buckets: TimeBuckets,
  named: NamedPoints[],
  partialBuckets: PartialBucket[],
): TimeData {
  return {
    type: 'time',
    ...frame,
    granularity: buckets.granularity ?? '',
    buckets: buckets.starts,
    ...(partialBuckets.length > 0 && { partialBuckets }),
    series: named.flatMap((one, seriesIndex) =>
      one.points.groups.map(({ labels, isOthers, values }) => ({
        name: one.name,
        seriesIndex,
        ...withUnit(one),
        group: labels,
        isOthers,
        values,
      })),
    ),
    groups: countGroups(named),
  };
}

/** One row per group. */
export function toHeatmapData(
  frame: TileFrame,
  buckets: TimeBuckets,
  named: NamedPoints[],
  partialBuckets: PartialBucket[],
): HeatmapData {
  const hasOneName = named.length === 1;
  return {
    type: 'heatmap',
    mode: 'series',
    ...frame,
    name: named.map(({ name }) => name).join(', '),
    granularity: buckets.granularity ?? '',
    buckets: buckets.starts,
    ...(partialBuckets.length > 0 && { partialBuckets }),
    scale: 'linear',
    ...(named[0] && hasOneName && withUnit(named[0])),
    rows: named.flatMap(({ name, points }) =>
      points.groups.map(({ labels, isOthers, values }) => ({
        group: hasOneName && labels.length > 0 ? labels : [name, ...labels],
        isOthers,
        values,
      })),
    ),
  };
}

/** The parts of a whole: the groups of every series. */
export function toPartsData(frame: TileFrame, type: 'pie' | 'bar', named: NamedPoints[]): PartsData {
  const parts = named.flatMap((one) =>
    one.points.groups.map(({ labels, isOthers, values }) => ({
      name: one.name,
      group: labels,
      isOthers,
      value: values[0] ?? one.empty,
      ...withUnit(one),
    })),
  );
  parts.sort((a, b) => Number(a.isOthers) - Number(b.isOthers) || compareValues(b.value, a.value));
  return { type, ...frame, parts, groups: countGroups(named) };
}

/** The order of a table: that of its config, or by its first value. A ratio is a value without a name. */
export function chooseOrders({ config, series }: RenderableTile, isRatio: boolean): ColumnOrder[] {
  const [first] = series;
  const groupBy = first?.groupBy ?? [];
  const byValue: ColumnOrder = { column: groupBy.length, order: first?.sortOrder ?? 'desc' };
  return findColumnOrders(config?.orderBy, groupBy, isRatio ? [] : series) ?? [byValue];
}

/** One row per group with the value of each series. */
export function toTableData(
  frame: TileFrame,
  groupBy: readonly string[],
  named: NamedPoints[],
  orders: readonly ColumnOrder[],
): TableData {
  const rows = new Map<string, { labels: string[]; isOthers: boolean; values: Value[] }>();
  for (const [index, { points }] of named.entries()) {
    for (const { labels, isOthers, values } of points.groups) {
      const id = JSON.stringify([isOthers, labels]);
      const row = rows.get(id) ?? { labels, isOthers, values: named.map(({ empty }) => empty) };
      rows.set(id, row);
      row.values[index] = values[0] ?? null;
    }
  }
  const compareRows = (a: Value[], b: Value[]): number => {
    for (const { column, order } of orders) {
      const difference = compareValues(a[column], b[column]);
      if (difference !== 0) return order === 'asc' ? difference : -difference;
    }
    return 0;
  };
  const sorted = [...rows.values()].sort(
    (a, b) =>
      Number(a.isOthers) - Number(b.isOthers) || compareRows([...a.labels, ...a.values], [...b.labels, ...b.values]),
  );
  return {
    type: 'table',
    ...frame,
    columns: [
      ...groupBy.map((name) => ({ name, kind: 'group' as const })),
      ...named.map((one) => ({ name: one.name, kind: 'value' as const, ...withUnit(one) })),
    ],
    rows: sorted.map(({ labels, isOthers, values }) => [
      ...(isOthers ? labels.map((_, index) => (index === 0 ? 'others' : '')) : labels),
      ...values,
    ]),
    groups: countGroups(named),
  };
}

export function toNumberData(frame: TileFrame, named: NamedPoints[]): NumberData {
  const series = named.map((one) => ({
    name: one.name,
    value: one.points.groups[0]?.values[0] ?? one.empty,
    ...withUnit(one),
  }));
  return { type: 'number', ...frame, value: series[0]?.value ?? null, series };
}

const countGroups = (named: NamedPoints[]): GroupCount => ({
  shown: Math.max(0, ...named.map(({ points }) => points.groups.filter(({ isOthers }) => !isOthers).length)),
  total: Math.max(0, ...named.map(({ points }) => points.totalGroups)),
});

function compareValues(a: Value | undefined, b: Value | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : Number(a > b);
  // A missing value sorts below every other.
  return Number(a !== null && a !== undefined) - Number(b !== null && b !== undefined);
}
