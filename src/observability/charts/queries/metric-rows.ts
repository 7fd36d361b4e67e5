import { quoteName } from '../../expressions/writer.ts';
import { getAggregation } from '../aggregations.ts';
import { type Draft, rejectSeries } from './draft.ts';
import type { SeriesQuery } from './series-query.ts';

const MINUTE_MS = 60_000;
const MAX_LOOK_BACK_MS = 24 * 60 * MINUTE_MS;
const MIN_LOOK_BACK_MS = 5 * MINUTE_MS;

/** The points of one metric in the range. */
export function metricRows(draft: Draft, query: SeriesQuery): string {
  return `(${draft.rows()})${draft.where(isMetric(draft, query))}`;
}

/**
 * The points of one metric, each with the previous point of its stream (`__before_…`). `__place` counts from 1. Starts
 * one bucket before the range, so that its first point has a previous one; `inRange` drops the earlier points.
 */
export function metricSteps(draft: Draft, query: SeriesQuery, columns: string[]): { sql: string; since: string } {
  const { startMs, endMs, durationSeconds } = query.buckets;
  const lookBackMs = Math.min(Math.max(durationSeconds(0) * 1000, MIN_LOOK_BACK_MS), MAX_LOOK_BACK_MS);
  const sinceMs = startMs - lookBackMs;
  const before = columns.map((name) => `lagInFrame(${quoteName(name)}) OVER series AS __before_${name}`);
  if (getAggregation(query.aggFn).isPerSecond) before.push(`lagInFrame(${draft.time}) OVER series AS __before_time`);
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

/**
 * The milliseconds that the increases of a group of points took: from the previous point of the first one, or from the start
 * of its stream, to the last one. A point of temporality delta has no previous point.
 */
export function spanSql(draft: Draft, since: string, isDelta: string): string {
  const before = `multiIf(${isDelta}, ${draft.time}, __place > 1, __before_time, ${startedSince(since)}, StartTimeUnix, ${draft.time})`;
  const toMs = (time: string) => `toUnixTimestamp64Milli(toDateTime64(${time}, 3))`;
  return `${toMs(`max(${draft.time})`)} - ${toMs(`min(${before})`)}`;
}

/** Drops the points before the range that `metricSteps` reads. */
export const inRange = (draft: Draft, { buckets }: SeriesQuery): string =>
  `${draft.time} >= ${draft.moment(buckets.startMs)}`;

/** Identifies a stream. Includes the start time, so a restarted process is a new stream. */
export function streamIdSql({ table }: SeriesQuery): string {
  const parts = ['ServiceName', 'ScopeName', 'ScopeAttributes', 'ResourceAttributes', 'Attributes', 'StartTimeUnix'];
  const known = table.columns.filter(({ name }) => parts.includes(name));
  // The order of keys in a map does not matter.
  const hashed = known.map(({ name, type }) =>
    type.startsWith('Map(') ? `mapSort(${quoteName(name)})` : quoteName(name),
  );
  return hashed.length === 0 ? 'toUInt64(0)' : `cityHash64(${hashed.join(', ')})`;
}

/** A stream that started within the range started at zero, so its first point counts whole. */
export const startedSince = (since: string): string => `StartTimeUnix >= ${since}`;

export const DELTA = 1;

function isMetric(draft: Draft, query: SeriesQuery): string {
  const name = query.metricName ?? query.field;
  if (name === undefined || name === '')
    return rejectSeries(query, 'metricName', 'A series of a metric source needs a metric name');
  return `MetricName = ${draft.writer.bind(name, 'String')}`;
}
