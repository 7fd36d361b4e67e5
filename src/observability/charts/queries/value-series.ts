import { SECOND_MS } from '../../../kernel/time/clock.ts';
import { DEFAULT_LEVEL, getAggregation } from '../aggregations.ts';
import { type Draft, rejectSeries } from './draft.ts';
import { DELTA, inRange, metricRows, metricSteps, spanSql, startedSince, streamIdSql } from './metric-rows.ts';
import type { Plan, Points, SeriesQuery } from './series-query.ts';
import { coveredPart } from './time-buckets.ts';
import { collectTopGroups, countTopGroups, referenceKeys, renderTopGroups } from './top-groups.ts';

/** A gauge: the last value of each stream and bucket, then the aggregate over the streams. */
export function planGauge(query: SeriesQuery, draft: Draft): Plan {
  if (getAggregation(query.aggFn).values.streamValue === 'increase')
    rejectSeries(query, 'aggFn', `The aggregation ${query.aggFn} is not available for metrics of type gauge`);
  const keys = ['__bucket', ...draft.groupNames, '__series'].join(', ');
  const cells =
    `SELECT ${[`${draft.bucket} AS __bucket`, ...draft.groups].join(', ')}, ${streamIdSql(query)} AS __series, ` +
    `argMax(Value, ${draft.time}) AS __of_series, max(${draft.time}) AS __at FROM ${metricRows(draft, query)} GROUP BY ${keys}`;
  return planAcrossStreams(draft, query, cells);
}

/**
 * A sum: the increase of each stream and bucket, then the aggregate over the streams. After a reset, the new value is the
 * increase. A sum that can decrease (IsMonotonic = 0) is read like a gauge, except for `increase` and `rate`.
 */
export function planSum(query: SeriesQuery, draft: Draft): Plan {
  const { isPerSecond, values } = getAggregation(query.aggFn);
  const { sql, since } = metricSteps(draft, query, ['Value']);
  const step =
    `multiIf(AggregationTemporality = ${DELTA}, Value, ` +
    `__place > 1, if(IsMonotonic AND Value < __before_Value, Value, Value - __before_Value), ` +
    `${startedSince(since)}, Value, 0)`;
  const gained = `sum(${step})`;
  const last = `argMax(Value, ${draft.time})`;
  const streamValue = {
    last,
    increase: gained,
    default: `if(any(IsMonotonic) OR any(AggregationTemporality) = ${DELTA}, ${gained}, ${last})`,
  }[values.streamValue];
  const keys = ['__bucket', ...draft.groupNames, '__series'].join(', ');
  const span = isPerSecond ? `, ${spanSql(draft, since, `AggregationTemporality = ${DELTA}`)} AS __stream_span` : '';
  const cells =
    `SELECT ${keys}, ${streamValue} AS __of_series, max(${draft.time}) AS __at${span} FROM (${sql}) ` +
    `WHERE ${inRange(draft, query)} GROUP BY ${keys}`;
  return planAcrossStreams(draft, query, cells, isPerSecond ? 'max(__stream_span)' : undefined);
}

function planAcrossStreams(draft: Draft, query: SeriesQuery, cells: string, span?: string): Plan {
  const aggregate = getAggregation(query.aggFn).values.aggregate(query.level ?? DEFAULT_LEVEL);
  const sql = renderTopGroups(referenceKeys(draft), query, `(${cells})`, aggregate, { span });
  return {
    statement: { sql, parameters: draft.writer.parameters },
    countGroups: (rows) => countTopGroups(rows, query),
    collect: (rows) => perSecond(query, collectTopGroups(rows, query)),
  };
}

/**
 * A rate is an increase divided by the seconds of its bucket. In a bucket that is cut or has not ended, only the time within
 * the range that has passed counts, but not less than the increase took: the first point of a bucket also contains what
 * was counted before it.
 */
export function perSecond({ aggFn, buckets, nowMs }: SeriesQuery, points: Points): Points {
  if (!getAggregation(aggFn).isPerSecond) return points;
  const lengths = buckets.starts.map((_, index) => {
    const { startMs, endMs } = coveredPart(buckets, index, nowMs);
    const wholeMs = buckets.durationSeconds(index) * SECOND_MS;
    return { wholeMs, coveredMs: endMs - startMs };
  });
  const groups = points.groups.map(({ spans, ...group }) => ({
    ...group,
    values: group.values.map((value, index) => {
      const { wholeMs, coveredMs } = lengths[index] ?? { wholeMs: 0, coveredMs: 0 };
      if (typeof value !== 'number') return value;
      const lengthMs = coveredMs < wholeMs ? Math.max(coveredMs, spans?.get(index) ?? 0) : wholeMs;
      return lengthMs > 0 ? value / (lengthMs / SECOND_MS) : null;
    }),
  }));
  return { ...points, groups };
}
