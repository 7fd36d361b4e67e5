import { MISSING, type Violation } from '../../kernel/errors.ts';
import { getAggregation } from './aggregations.ts';
import { type Series, SeriesBody } from './series-schema.ts';

export const normalizeSeries = (series: SeriesBody): Series =>
  pickProperties(SeriesBody.properties, series, { where: '', whereLanguage: 'lucene' as const, groupBy: [] });

/** The members that the schema defines, in its order. Never copies the others, of which there may be very many. */
export function pickProperties<T extends object, D extends object>(
  properties: object,
  value: T,
  defaults: D,
): T & { [name in keyof D]: D[name] } {
  const picked: Record<string, unknown> = {};
  for (const name of Object.keys(properties)) {
    const member = Object.hasOwn(value, name) ? value[name as keyof T] : undefined;
    const chosen = member ?? (defaults as Record<string, unknown>)[name];
    if (chosen !== undefined) picked[name] = chosen;
  }
  return picked as T & D;
}

/** The violations of one tile. `path` is the prefix of `series`. */
export function listSeriesViolations(all: SeriesBody[], path: string): Violation[] {
  const violations = all.flatMap((series, at) => listMissingMembers(series, `${path}series[${at}]`));
  if (new Set(all.map(({ type }) => type)).size > 1)
    violations.push({ path: `${path}series`, rule: 'All series of a tile must have the same type', value: all });
  return violations;
}

function listMissingMembers(series: SeriesBody, path: string): Violation[] {
  const needs = (member: keyof typeof series): Violation[] =>
    series[member] === undefined
      ? [{ path: `${path}.${member}`, rule: `The value is required for type ${series.type}`, value: MISSING }]
      : [];
  switch (series.type) {
    case 'markdown':
      return needs('content');
    case 'search':
      return needs('fields');
    case 'histogram':
      return needs('field');
    default:
      // A heatmap without an aggregation shows the distribution of the field.
      if (series.type === 'heatmap' && series.aggFn === undefined) return needs('field');
      return [...needs('aggFn'), ...(series.aggFn && getAggregation(series.aggFn).needsLevel ? needs('level') : [])];
  }
}
