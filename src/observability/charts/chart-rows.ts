import type { Points, Value } from './queries/series-query.ts';
import type { TimeBuckets } from './queries/time-buckets.ts';

type ChartRow = { ts_bucket?: number; group?: string[] } & Record<string, Value | string[]>;

/** The wire format of chart series: one row per bucket and group that has a value. */
export function toChartRows(
  buckets: TimeBuckets,
  points: Points[],
  form: 'column' | undefined,
  groupBy: readonly string[],
): ChartRow[] {
  const cells = new Map<string, { bucket: number; labels: string[]; values: [series: number, value: Value][] }>();
  for (const [series, { groups }] of points.entries()) {
    for (const { labels, values } of groups) {
      for (const [bucket, value] of values.entries()) {
        if (value === null) continue;
        const id = JSON.stringify([bucket, labels]);
        const cell = cells.get(id) ?? { bucket, labels, values: [] };
        cells.set(id, cell);
        cell.values.push([series, value]);
      }
    }
  }
  // The sort is stable: within a bucket the largest groups stay first.
  const rows = [...cells.values()].sort((a, b) => a.bucket - b.bucket);
  return rows.map(({ bucket, labels, values }) => {
    const startsAt = buckets.starts[bucket] ?? buckets.startMs;
    return form === 'column'
      ? {
          __hdx_time_bucket: new Date(startsAt).toISOString(),
          ...Object.fromEntries(groupBy.map((name, index) => [name, labels[index] ?? ''])),
          ...Object.fromEntries(values.map(([series, value]) => [`series_${series}`, value])),
        }
      : {
          ts_bucket: startsAt,
          group: labels,
          ...Object.fromEntries(values.map(([series, value]) => [`series_${series}.data`, value])),
        };
  });
}
