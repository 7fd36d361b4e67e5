import { MISSING, type Violation } from '../kernel/errors.ts';
import { getAggregation } from './aggregations.ts';
import { type Series, SeriesBody } from './series-schema.ts';

export const normalizeSeries = (series: SeriesBody): Series =>
  pickProperties(SeriesBody.properties, {
    ...series,
    where: series.where ?? '',
    whereLanguage: series.whereLanguage ?? ('lucene' as const),
    groupBy: series.groupBy ?? [],
  });

/** Drops members that the schema does not define. */
export function pickProperties<T extends object>(properties: object, value: T): T {
  const names = Object.keys(properties).filter((name) => Object.hasOwn(value, name));
  return Object.fromEntries(names.map((name) => [name, value[name as keyof T]])) as T;
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
    default:
      return [...needs('aggFn'), ...(series.aggFn && getAggregation(series.aggFn).needsLevel ? needs('level') : [])];
  }
}
