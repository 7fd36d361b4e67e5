import { AGGREGATION_NAMES, getAggregation, listDataTypes } from './aggregations.ts';

/** docs/aggregations.md, written by `npm run docs`. */
export function renderAggregationReference(): string {
  const rows = AGGREGATION_NAMES.map((name) => {
    const { label, description, events, needsLevel, isNumeric, emptyValue } = getAggregation(name);
    const needs = [...(events && events.field !== 'none' ? ['`field`'] : []), ...(needsLevel ? ['`level`'] : [])];
    const ratio = isNumeric ? `yes; ${emptyValue} if no row matches` : 'if the field is a number';
    return `| \`${name}\` | ${label} | ${description} | ${needs.join(', ')} | ${listDataTypes(name).join(', ')} | ${ratio} |`;
  });
  return [
    '# Aggregations',
    '',
    'Generated from `src/observability/charts/aggregations.ts` by `npm run docs`. *Events* are logs and traces. Series of a metric source need',
    '`metricName` instead of `field`. The last column describes the numerator of a ratio.',
    '',
    '| `aggFn` | label | result | requires | available for | ratio |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
