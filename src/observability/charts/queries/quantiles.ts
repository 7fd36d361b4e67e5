import { DEFAULT_LEVEL } from '../aggregations.ts';
import { estimateQuantile, type Histogram } from '../tiles/distribution.ts';
import type { Group, Points, SeriesQuery } from './series-query.ts';

/** The columns of a row that contain its histogram. */
export interface HistogramColumns {
  /** The index of the first of them. */
  at: number;
  read(columns: unknown[]): Histogram;
}

/** Sparse: there can be as many groups as rows, and most have values in few buckets. */
interface GroupHistograms {
  labels: string[];
  /** By bucket. */
  histograms: Map<number, Histogram[]>;
}

interface RankedGroup extends GroupHistograms {
  /** By bucket. */
  values: Map<number, number | null>;
  highest: number;
}

/** The number of groups that `collectQuantiles` returns for these rows. */
export function countQuantileGroups(rows: unknown[][], { groupBy, top }: SeriesQuery): number {
  if (groupBy.length === 0) return 1;
  const ids = new Set(rows.map((row) => JSON.stringify(readLabels(row, groupBy))));
  return Math.min(ids.size, top.groups + Number(top.withOthers));
}

/** Computes quantiles from histograms by bucket and group. Keeps the groups with the highest bucket. */
export function collectQuantiles(rows: unknown[][], query: SeriesQuery, cells: HistogramColumns): Points {
  const { buckets, groupBy, level = DEFAULT_LEVEL, top } = query;
  const gathered = new Map<string, GroupHistograms>();
  if (groupBy.length === 0) gathered.set('[]', { labels: [], histograms: new Map() });
  for (const row of rows) {
    const labels = readLabels(row, groupBy);
    const id = JSON.stringify(labels);
    const group = gathered.get(id) ?? { labels, histograms: new Map() };
    gathered.set(id, group);
    const bucket = Number(row[0]);
    if (bucket >= 0 && bucket < buckets.starts.length) addHistograms(group, bucket, [cells.read(row.slice(cells.at))]);
  }
  const toGroup = ({ labels, values }: RankedGroup, isOthers: boolean): Group => ({
    labels,
    isOthers,
    values: buckets.starts.map((_, index) => values.get(index) ?? null),
  });
  const ranked = [...gathered.values()].map((group) => computeValues(group, level)).sort(byHighest);
  const shown = ranked.slice(0, top.groups).map((group) => toGroup(group, false));
  const rest = ranked.slice(top.groups);
  if (top.withOthers && rest.length > 0) {
    const others: GroupHistograms = { labels: groupBy.map(() => ''), histograms: new Map() };
    for (const { histograms } of rest) for (const [bucket, list] of histograms) addHistograms(others, bucket, list);
    shown.push(toGroup(computeValues(others, level), true));
  }
  return { groups: shown, totalGroups: ranked.length };
}

const readLabels = (row: unknown[], groupBy: readonly string[]): string[] =>
  row.slice(1, 1 + groupBy.length).map(String);

function addHistograms({ histograms }: GroupHistograms, bucket: number, added: Histogram[]): void {
  const list = histograms.get(bucket);
  if (list) list.push(...added);
  else histograms.set(bucket, [...added]);
}

function computeValues(group: GroupHistograms, level: number): RankedGroup {
  const values = new Map([...group.histograms].map(([bucket, list]) => [bucket, estimateQuantile(list, level)]));
  const highest = Math.max(...[...values.values()].map((value) => value ?? Number.NEGATIVE_INFINITY));
  return { ...group, values, highest };
}

function byHighest(a: RankedGroup, b: RankedGroup): number {
  if (a.highest !== b.highest) return a.highest > b.highest ? -1 : 1;
  return JSON.stringify(a.labels) < JSON.stringify(b.labels) ? -1 : 1;
}
