import { DEFAULT_LEVEL } from './aggregations.ts';
import { estimateQuantile, type Histogram } from './distribution.ts';
import type { Group, Points, SeriesQuery } from './series-query.ts';

/** The columns of a row that contain its histogram. */
export interface HistogramColumns {
  /** The index of the first of them. */
  at: number;
  read(columns: unknown[]): Histogram;
}

interface GroupHistograms {
  labels: string[];
  /** By bucket. */
  histograms: Histogram[][];
  values: (number | null)[];
}

/** Computes quantiles from histograms by bucket and group. Keeps the groups with the highest bucket. */
export function collectQuantiles(rows: unknown[][], query: SeriesQuery, cells: HistogramColumns): Points {
  const { buckets, groupBy, level = DEFAULT_LEVEL, top } = query;
  const gathered = new Map<string, GroupHistograms>();
  if (groupBy.length === 0) gathered.set('[]', createGroup([], buckets.starts.length));
  for (const row of rows) {
    const labels = row.slice(1, 1 + groupBy.length).map(String);
    const id = JSON.stringify(labels);
    const group = gathered.get(id) ?? createGroup(labels, buckets.starts.length);
    gathered.set(id, group);
    group.histograms[Number(row[0])]?.push(cells.read(row.slice(cells.at)));
  }
  const valued = (group: GroupHistograms): GroupHistograms => ({
    ...group,
    values: group.histograms.map((list) => (list.length === 0 ? null : estimateQuantile(list, level))),
  });
  const ranked = [...gathered.values()].map(valued).sort(byHighest);
  const shown: Group[] = ranked.slice(0, top.groups).map(({ labels, values }) => ({ labels, isOthers: false, values }));
  const rest = ranked.slice(top.groups);
  if (top.withOthers && rest.length > 0) {
    const others = createGroup(
      groupBy.map(() => ''),
      buckets.starts.length,
    );
    for (const { histograms } of rest)
      for (const [index, list] of histograms.entries()) others.histograms[index]?.push(...list);
    shown.push({ labels: others.labels, isOthers: true, values: valued(others).values });
  }
  return { groups: shown, totalGroups: ranked.length };
}

const createGroup = (labels: string[], buckets: number): GroupHistograms => ({
  labels,
  histograms: Array.from({ length: buckets }, () => []),
  values: [],
});

const highest = ({ values }: GroupHistograms): number =>
  Math.max(...values.map((value) => value ?? Number.NEGATIVE_INFINITY));

function byHighest(a: GroupHistograms, b: GroupHistograms): number {
  const [first, second] = [highest(a), highest(b)];
  if (first !== second) return first > second ? -1 : 1;
  return JSON.stringify(a.labels) < JSON.stringify(b.labels) ? -1 : 1;
}
