import { type Aggregate, DEFAULT_LEVEL, getAggregation } from './aggregations.ts';
import { createDraft, type Draft, rejectSeries } from './draft.ts';
import type { Plan, SeriesQuery } from './series-query.ts';
import { collectTopGroups, countTopGroups, renderTopGroups } from './top-groups.ts';

/** Plans a series of logs or traces: aggregates a field over the rows of each bucket and group. */
export function planEventSeries(query: SeriesQuery): Plan {
  const draft = createDraft(query);
  const { aggregate, present } = buildAggregate(query, draft);
  const from = `(${draft.rows()})${draft.where(present)}`;
  const sql = renderTopGroups(draft, query, from, aggregate);
  return {
    statement: { sql, parameters: draft.writer.parameters },
    countGroups: (rows) => countTopGroups(rows, query),
    collect: (rows) => collectTopGroups(rows, query),
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
