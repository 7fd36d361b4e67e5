import { DEFAULT_LEVEL, getAggregation } from './aggregations.ts';
import { createDraft, type Draft, refuseSeries } from './draft.ts';
import { DELTA, hasBegunSince, identity, inRange, metricRows, metricSteps } from './metric-rows.ts';
import type { Plan, Points, Reading } from './reading.ts';
import { collectTopGroups, keysByName, topGroupsSql } from './top-groups.ts';

/** A gauge: the last value of each series and bucket, then the aggregate over the series. */
export function planGauge(reading: Reading): Plan {
  if (getAggregation(reading.aggFn).values.ofSeries === 'increase')
    refuseSeries(reading, 'aggFn', `The aggregation ${reading.aggFn} is not available for metrics of type gauge`);
  const draft = createDraft(reading);
  const keys = ['__bucket', ...draft.groupNames, '__series'].join(', ');
  const cells =
    `SELECT ${[`${draft.bucket} AS __bucket`, ...draft.groups].join(', ')}, ${identity(reading)} AS __series, ` +
    `argMax(Value, ${draft.time}) AS __of_series, max(${draft.time}) AS __at FROM ${metricRows(draft, reading)} GROUP BY ${keys}`;
  return overSeries(draft, reading, cells);
}

/**
 * A sum. What a counter has gained per series and bucket, then the aggregate over the series; a counter that starts
 * again from zero has gained what it shows then. A sum that may also fall (IsMonotonic = 0) is read like a gauge, unless
 * its increase is asked for, which may then be negative.
 */
export function planSum(reading: Reading): Plan {
  const draft = createDraft(reading);
  const { sql, since } = metricSteps(draft, reading, ['Value']);
  const step =
    `multiIf(AggregationTemporality = ${DELTA}, Value, ` +
    `__place > 1, if(IsMonotonic AND Value < __before_Value, Value, Value - __before_Value), ` +
    `${hasBegunSince(since)}, Value, 0)`;
  const gained = `sum(${step})`;
  const last = `argMax(Value, ${draft.time})`;
  const ofSeries = {
    last,
    increase: gained,
    default: `if(any(IsMonotonic) OR any(AggregationTemporality) = ${DELTA}, ${gained}, ${last})`,
  }[getAggregation(reading.aggFn).values.ofSeries];
  const keys = ['__bucket', ...draft.groupNames, '__series'].join(', ');
  const cells =
    `SELECT ${keys}, ${ofSeries} AS __of_series, max(${draft.time}) AS __at FROM (${sql}) ` +
    `WHERE ${inRange(draft, reading)} GROUP BY ${keys}`;
  return overSeries(draft, reading, cells);
}

function overSeries(draft: Draft, reading: Reading, cells: string): Plan {
  const aggregate = getAggregation(reading.aggFn).values.aggregate(reading.level ?? DEFAULT_LEVEL);
  const sql = topGroupsSql(keysByName(draft), reading, `(${cells})`, aggregate);
  return {
    statement: { sql, parameters: draft.writer.parameters },
    collect: (rows) => perSecond(reading, collectTopGroups(rows, reading)),
  };
}

/** A rate is an increase divided by the seconds of its bucket. */
export function perSecond({ aggFn, buckets }: Reading, points: Points): Points {
  if (!getAggregation(aggFn).isPerSecond) return points;
  const groups = points.groups.map((group) => ({
    ...group,
    values: group.values.map((value, index) => (typeof value === 'number' ? value / buckets.secondsOf(index) : value)),
  }));
  return { ...points, groups };
}
