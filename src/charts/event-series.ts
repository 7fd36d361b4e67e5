import { type Aggregate, DEFAULT_LEVEL, getAggregation } from './aggregations.ts';
import { createDraft, type Draft, refuseSeries } from './draft.ts';
import type { Plan, Reading } from './reading.ts';
import { collectTopGroups, topGroupsSql } from './top-groups.ts';

/** A series over logs or traces: an aggregate of a field over the rows of each bucket and group. */
export function planEventSeries(reading: Reading): Plan {
  const draft = createDraft(reading);
  const { aggregate, present } = buildAggregate(reading, draft);
  const from = `(${draft.rows()})${draft.where(present)}`;
  const sql = topGroupsSql(draft, reading, from, aggregate);
  return {
    statement: { sql, parameters: draft.writer.parameters },
    collect: (rows) => collectTopGroups(rows, reading),
  };
}

/** A row without a value, or without a number where one is needed, is skipped rather than counted as 0. */
function buildAggregate(reading: Reading, draft: Draft): { aggregate: Aggregate; present?: string | undefined } {
  const { aggFn, field, level = DEFAULT_LEVEL } = reading;
  const { events } = getAggregation(aggFn);
  const { time, writer } = draft;
  if (!events)
    return refuseSeries(reading, 'aggFn', `The aggregation ${aggFn} is only available for series of a metric source`);
  if (events.field === 'none') return { aggregate: events.aggregate({ field: '', time, level }) };
  if (field === undefined || field.trim() === '')
    return refuseSeries(reading, 'field', `The aggregation ${aggFn} needs a field`);
  const expression = draft.value('field', field);
  if (events.field === 'number')
    return { aggregate: events.aggregate({ field: writer.writeNumber(expression), time, level }) };
  return {
    aggregate: events.aggregate({ field: writer.write(expression), time, level }),
    present: writer.writePresence(expression),
  };
}
