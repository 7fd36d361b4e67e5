import { createDraft, type Draft, refuseSeries } from './draft.ts';
import type { Plan, Reading } from './reading.ts';
import { type Aggregate, collectTopGroups, topGroupsSql } from './top-groups.ts';

/** A series over logs or traces: an aggregate of a field over the rows of each bucket and group. */
export function planEventSeries(reading: Reading): Plan {
  const draft = createDraft(reading);
  const { aggregate, present } = aggregateOf(reading, draft);
  const from = `(${draft.rows()})${draft.where(present)}`;
  const sql = topGroupsSql(draft, reading, from, aggregate);
  return {
    statement: { sql, parameters: draft.writer.parameters },
    collect: (rows) => collectTopGroups(rows, reading),
  };
}

/** What is missing, or not a number where one is needed, is skipped and never counted as 0. */
function aggregateOf(reading: Reading, draft: Draft): { aggregate: Aggregate; present?: string | undefined } {
  const { aggFn, field, level } = reading;
  if (aggFn === 'count') return { aggregate: { name: 'count', arguments: [] } };
  if (aggFn === 'increase' || aggFn === 'rate')
    refuseSeries(reading, 'aggFn', `${aggFn} is of counters: only series of a metric source have it`);
  if (field === undefined || field.trim() === '')
    return refuseSeries(reading, 'field', `The aggregation ${aggFn} needs a field`);
  const expression = draft.value('field', field);
  const number = () => draft.writer.writeNumber(expression);
  switch (aggFn) {
    case 'quantile':
      return { aggregate: { name: 'quantile', level: level ?? 0.5, arguments: [number()] } };
    case 'count_distinct':
      return {
        aggregate: { name: 'uniqExact', arguments: [draft.writer.write(expression)] },
        present: draft.writer.writePresence(expression),
      };
    case 'any':
    case 'none':
      return {
        aggregate: { name: 'any', arguments: [draft.writer.write(expression)] },
        present: draft.writer.writePresence(expression),
      };
    case 'last_value':
      return {
        aggregate: { name: 'argMax', arguments: [draft.writer.write(expression), draft.time] },
        present: draft.writer.writePresence(expression),
      };
    default:
      return { aggregate: { name: aggFn, arguments: [number()] } };
  }
}
