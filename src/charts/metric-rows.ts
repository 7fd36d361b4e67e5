import { quoteName } from '../expressions/writer.ts';
import { type Draft, rejectSeries } from './draft.ts';
import type { SeriesQuery } from './series-query.ts';

const MINUTE_MS = 60_000;
const MAX_LOOK_BACK_MS = 24 * 60 * MINUTE_MS;
const MIN_LOOK_BACK_MS = 5 * MINUTE_MS;

/** The points of one metric within the range of the request. */
export function metricRows(draft: Draft, query: SeriesQuery): string {
  return `(${draft.rows()})${draft.where(isMetric(draft, query))}`;
}

/**
 * The points of one metric, each beside its predecessor in the same series (`__before_…`, `__place` counts from 1).
 * Looks back one bucket further than asked, so that the first point of the range has a predecessor too; what lies
 * before the range is dropped by `inRange`.
 */
export function metricSteps(draft: Draft, query: SeriesQuery, columns: string[]): { sql: string; since: string } {
  const { startMs, endMs, durationSeconds: secondsOf } = query.buckets;
  const lookBackMs = Math.min(Math.max(secondsOf(0) * 1000, MIN_LOOK_BACK_MS), MAX_LOOK_BACK_MS);
  const sinceMs = startMs - lookBackMs;
  const before = columns.map((name) => `lagInFrame(${quoteName(name)}) OVER series AS __before_${name}`);
  const selected = [
    '*',
    `${draft.bucket} AS __bucket`,
    ...draft.groups,
    `${streamIdSql(query)} AS __series`,
    ...before,
  ];
  const rows = `(${draft.rows({ startMs: sinceMs, endMs })})${draft.where(isMetric(draft, query))}`;
  return {
    sql:
      `SELECT ${selected.join(', ')}, row_number() OVER series AS __place FROM ${rows} ` +
      `WINDOW series AS (PARTITION BY __series ORDER BY ${draft.time} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`,
    since: draft.moment(sinceMs),
  };
}

/** Drops the points that `metricSteps` looked back for. */
export const inRange = (draft: Draft, { buckets }: SeriesQuery): string =>
  `${draft.time} >= ${draft.moment(buckets.startMs)}`;

/** Two processes with the same attributes, or one that was started anew, are two series: the start time tells them apart. */
export function streamIdSql({ table }: SeriesQuery): string {
  const parts = ['ServiceName', 'ScopeName', 'ScopeAttributes', 'ResourceAttributes', 'Attributes', 'StartTimeUnix'];
  const known = table.columns.filter(({ name }) => parts.includes(name));
  // Maps are compared whatever the order of their keys.
  const hashed = known.map(({ name, type }) =>
    type.startsWith('Map(') ? `mapSort(${quoteName(name)})` : quoteName(name),
  );
  return hashed.length === 0 ? 'toUInt64(0)' : `cityHash64(${hashed.join(', ')})`;
}

/** A stream without a predecessor that began within what we look at has grown from nothing; an older one is not known. */
export const startedSince = (since: string): string => `StartTimeUnix >= ${since}`;

export const DELTA = 1;

function isMetric(draft: Draft, query: SeriesQuery): string {
  const name = query.metricName ?? query.field;
  if (name === undefined || name === '')
    return rejectSeries(query, 'metricName', 'A series of a metric source needs the name of a metric');
  return `MetricName = ${draft.writer.bind(name, 'String')}`;
}
