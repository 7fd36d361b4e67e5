import { type Aggregate, DEFAULT_LEVEL, getAggregation, listAggregations } from '../aggregations.ts';
import { type Draft, rejectSeries } from './draft.ts';
import { DELTA, inRange, metricSteps, spanSql, startedSince } from './metric-rows.ts';
import { collectQuantiles, countQuantileGroups, type HistogramColumns } from './quantiles.ts';
import type { Plan, SeriesQuery } from './series-query.ts';
import { collectTopGroups, countTopGroups, referenceKeys, renderTopGroups } from './top-groups.ts';
import { perSecond } from './value-series.ts';

const HISTOGRAM_COLUMNS = ['Count', 'Sum', 'BucketCounts', 'ExplicitBounds'];
const EXPONENTIAL_COLUMNS = [
  'Count',
  'Sum',
  'Scale',
  'ZeroCount',
  'PositiveOffset',
  'PositiveBucketCounts',
  'NegativeOffset',
  'NegativeBucketCounts',
];

export function planHistogram(query: SeriesQuery, draft: Draft): Plan {
  const { sql, since } = metricSteps(draft, query, HISTOGRAM_COLUMNS);
  const steps = withGains(draft, query, sql, since, ' AND ExplicitBounds = __before_ExplicitBounds');
  if (getAggregation(query.aggFn).distributions !== 'quantile') return planTotals(draft, query, steps, since);
  const gained =
    'if(__gain = 2, arrayMap((now, before) -> toInt64(now) - toInt64(before), BucketCounts, __before_BucketCounts), ' +
    'arrayMap(now -> toInt64(now), BucketCounts))';
  const keys = ['__bucket', ...draft.groupNames, 'ExplicitBounds'].join(', ');
  const cells = `SELECT ${keys}, sumForEach(${gained}) AS __counts FROM (${steps}) WHERE __gain > 0 GROUP BY ${keys}`;
  return quantilePlan(draft, query, cells, ([bounds, counts]) => ({
    kind: 'explicit',
    bounds: numbers(bounds),
    counts: numbers(counts),
  }));
}

export function planExponentialHistogram(query: SeriesQuery, draft: Draft): Plan {
  const { sql, since } = metricSteps(draft, query, EXPONENTIAL_COLUMNS);
  // A finer scale cannot be compared with the previous point, so the point counts as a reset.
  const steps = withGains(draft, query, sql, since, ' AND Scale <= __before_Scale');
  if (getAggregation(query.aggFn).distributions !== 'quantile') return planTotals(draft, query, steps, since);
  const keys = ['__bucket', ...draft.groupNames, 'Scale'].join(', ');
  const cells =
    `SELECT ${keys}, sumMap(${changedBuckets('Positive')}) AS __positive, sumMap(${changedBuckets('Negative')}) AS __negative, ` +
    'sum(toInt64(ZeroCount) - if(__gain = 2, toInt64(__before_ZeroCount), 0)) AS __zeros ' +
    `FROM (${steps}) WHERE __gain > 0 GROUP BY ${keys}`;
  return quantilePlan(draft, query, cells, ([scale, positive, negative, zeros]) => ({
    kind: 'exponential',
    scale: Number(scale),
    positive: pairs(positive),
    negative: pairs(negative),
    zeros: Number(zeros),
  }));
}

/** Counts by bucket index minus those of the previous point, converted to the coarser scale. */
function changedBuckets(side: 'Positive' | 'Negative'): string {
  const indexes = (offset: string, counts: string) =>
    `arrayMap(i -> toInt32(${offset} + i - 1), arrayEnumerate(${counts}))`;
  const now = indexes(`${side}Offset`, `${side}BucketCounts`);
  const before = indexes(`__before_${side}Offset`, `__before_${side}BucketCounts`);
  const coarser = `arrayMap(i -> toInt32(floor(i / exp2(__before_Scale - Scale))), ${before})`;
  const isStep = '__gain = 2';
  return (
    `arrayConcat(${now}, if(${isStep}, ${coarser}, [])), ` +
    `arrayConcat(arrayMap(c -> toInt64(c), ${side}BucketCounts), if(${isStep}, arrayMap(c -> -toInt64(c), __before_${side}BucketCounts), []))`
  );
}

/** Summaries have no temporality: they are cumulative. */
function isDeltaSql({ table }: SeriesQuery): string {
  const hasTemporality = table.columns.some(({ name }) => name === 'AggregationTemporality');
  return hasTemporality ? `AggregationTemporality = ${DELTA}` : '0';
}

/**
 * Adds the increase of each point. `__gain` is 1 if the whole point counts (delta, reset, new stream), 2 if the previous
 * point is subtracted, 0 if there is no previous point.
 */
function withGains(draft: Draft, query: SeriesQuery, sql: string, since: string, isComparable: string): string {
  const gain = `multiIf(${isDeltaSql(query)}, 1, __place > 1, if(Count >= __before_Count${isComparable}, 2, 1), ${startedSince(since)}, 1, 0)`;
  return (
    `SELECT *, ${gain} AS __gain, ` +
    'multiIf(__gain = 1, toInt64(Count), __gain = 2, toInt64(Count) - toInt64(__before_Count), 0) AS __count, ' +
    'multiIf(__gain = 1, Sum, __gain = 2, Sum - __before_Sum, 0) AS __sum ' +
    `FROM (${sql}) WHERE ${inRange(draft, query)}`
  );
}

/** Aggregations other than quantiles need only counts and sums. */
function planTotals(draft: Draft, query: SeriesQuery, steps: string, since: string): Plan {
  const { aggregate, where } = buildTotal(query);
  const from = `(${steps})${where ? ` WHERE ${where}` : ''}`;
  const span = getAggregation(query.aggFn).isPerSecond ? spanSql(draft, since, isDeltaSql(query)) : undefined;
  return {
    statement: {
      sql: renderTopGroups(referenceKeys(draft), query, from, aggregate, { span }),
      parameters: draft.writer.parameters,
    },
    countGroups: (rows) => countTopGroups(rows, query),
    collect: (rows) => perSecond(query, collectTopGroups(rows, query)),
  };
}

function buildTotal(query: SeriesQuery): { aggregate: Aggregate; where?: string } {
  const { aggFn, table, metricDataType = 'histogram' } = query;
  const { distributions } = getAggregation(aggFn);
  if (distributions && distributions !== 'quantile') {
    const { requiredColumn } = distributions;
    if (!requiredColumn || table.columns.some(({ name }) => name === requiredColumn)) return distributions;
  }
  const available = listAggregations(metricDataType).join(', ');
  return rejectSeries(
    query,
    'aggFn',
    `The aggregation ${aggFn} is not available for metrics of type ${metricDataType}; use one of ${available}`,
  );
}

/**
 * A summary contains precomputed quantiles, which cannot be merged exactly: takes the last one of each stream and bucket,
 * then the mean over the streams.
 */
export function planSummary(query: SeriesQuery, draft: Draft): Plan {
  const { sql, since } = metricSteps(draft, query, ['Count', 'Sum']);
  const steps = withGains(draft, query, sql, since, '');
  if (getAggregation(query.aggFn).distributions !== 'quantile') return planTotals(draft, query, steps, since);
  const level = draft.writer.bind(query.level ?? DEFAULT_LEVEL, 'Float64');
  const position = `indexOf(\`ValueAtQuantiles.Quantile\`, ${level})`;
  const keys = ['__bucket', ...draft.groupNames, '__series'].join(', ');
  const cells =
    `SELECT ${keys}, argMax(\`ValueAtQuantiles.Value\`[${position}], ${draft.time}) AS __of_series FROM (${steps}) ` +
    `WHERE ${position} > 0 GROUP BY ${keys}`;
  const topSql = renderTopGroups(referenceKeys(draft), query, `(${cells})`, {
    name: 'avg',
    arguments: ['__of_series'],
  });
  return {
    statement: { sql: topSql, parameters: draft.writer.parameters },
    countGroups: (rows) => countTopGroups(rows, query),
    collect: (rows) => collectTopGroups(rows, query),
  };
}

function quantilePlan(draft: Draft, query: SeriesQuery, sql: string, read: HistogramColumns['read']): Plan {
  return {
    statement: { sql, parameters: draft.writer.parameters },
    countGroups: (rows) => countQuantileGroups(rows, query),
    collect: (rows) => collectQuantiles(rows, query, { read, at: 1 + draft.groupNames.length }),
  };
}

const numbers = (list: unknown): number[] => (list as unknown[]).map(Number);

/** `sumMap` returns two arrays: indexes and counts. */
function pairs(result: unknown): [number, number][] {
  const [indexes, counts] = result as [unknown[], unknown[]];
  return indexes.map((index, at) => [Number(index), Number(counts[at])]);
}
