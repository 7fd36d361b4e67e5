import { type Aggregate, DEFAULT_LEVEL, getAggregation } from '../aggregations.ts';
import { type Draft, rejectSeries } from './draft.ts';
import type { Plan, Points, SeriesQuery, Value } from './series-query.ts';
import { collectTopGroups, countTopGroups, renderTopGroups } from './top-groups.ts';

/** Plans a series of logs or traces: aggregates a field over the rows of each bucket and group. */
export function planEventSeries(query: SeriesQuery, draft: Draft): Plan {
  const { aggregate, present } = buildAggregate(query, draft);
  const from = `(${draft.rows()})${draft.where(present)}`;
  const sql = renderTopGroups(draft, query, from, aggregate);
  return {
    statement: { sql, parameters: draft.writer.parameters },
    countGroups: (rows) => countTopGroups(rows, query),
    collect: (rows) => readNumbers(query, collectTopGroups(rows, query)),
  };
}

/** A row without a value, or without a number where one is needed, is skipped rather than counted as 0. */
function buildAggregate(query: SeriesQuery, draft: Draft): { aggregate: Aggregate; present?: string | undefined } {
  const { aggFn, field, level = DEFAULT_LEVEL } = query;
  const { events } = getAggregation(aggFn);
  const { time, writer } = draft;
  if (!events)
    return rejectSeries(query, 'aggFn', `The aggregation ${aggFn} is only available for series of a metric source`);
  if (events.field === 'none') return { aggregate: events.aggregate({ field: '', time, level }) };
  if (field === undefined || field.trim() === '')
    return rejectSeries(query, 'field', `The aggregation ${aggFn} needs a field`);
  const expression = draft.value('field', field);
  if (events.field === 'number')
    return { aggregate: events.aggregate({ field: writer.writeNumber(expression), time, level }) };
  return {
    aggregate: events.aggregate({ field: writer.write(expression), time, level }),
    present: writer.writePresence(expression),
  };
}

/** An attribute is text; if the text is a number, its last value is that number, so that it can be drawn and sorted. */
function readNumbers({ aggFn }: SeriesQuery, points: Points): Points {
  if (!getAggregation(aggFn).readsNumbers) return points;
  const groups = points.groups.map((group) => ({ ...group, values: group.values.map(toNumber) }));
  return { ...points, groups };
}

/** Not for identifiers: leading zeros, and integers that a JSON number cannot represent exactly, stay text. */
function toNumber(value: Value): Value {
  if (typeof value !== 'string' || !/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value)) return value;
  const number = Number(value);
  return Number.isFinite(number) && (Number.isSafeInteger(number) || !Number.isInteger(number)) ? number : value;
}
