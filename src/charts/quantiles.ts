import { DEFAULT_LEVEL } from './aggregations.ts';
import { estimateQuantile, type Histogram } from './distribution.ts';
import type { Group, Points, SeriesQuery } from './series-query.ts';

/** How a row of bucket, groups and histogram is read. */
export interface HistogramColumns {
  /** Where the columns of the histogram begin. */
  at: number;
  read(columns: unknown[]): Histogram;
}

interface GroupHistograms {
  labels: string[];
  /** By bucket. */
  histograms: Histogram[][];
  values: (number | null)[];
}

/** Histograms by bucket and group → quantiles, cut to the top groups by their highest bucket. */
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
    const together = createGroup(
      groupBy.map(() => ''),
      buckets.starts.length,
    );
    for (const { histograms } of rest)
      for (const [index, list] of histograms.entries()) together.histograms[index]?.push(...list);
    shown.push({ labels: together.labels, isOthers: true, values: valued(together).values });
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
