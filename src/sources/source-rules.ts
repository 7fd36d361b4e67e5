import type { Violation } from '../kernel/errors.ts';
import { pickMembers } from '../kernel/pick-members.ts';
import { KeptSourceMembers } from './kept-members.ts';
import type { SourceBody } from './schema.ts';
import { BUILT_IN_SOURCES, defaultSource, type Source } from './source.ts';

export const isBuiltIn = (id: string): boolean => BUILT_IN_SOURCES.some((source) => source.id === id);

/** Adds the defaults of the kind and drops unknown members. */
export function normalizeSource(id: string, body: SourceBody): Source {
  const { kind, name, from, timestampValueExpression, implicitColumnExpression, bodyExpression, metricTables } = body;
  const { durationExpression, durationPrecision } = body;
  const fallback = defaultSource(kind, id, name);
  const source: Source = {
    ...fallback,
    from: {
      databaseName: from?.databaseName ?? fallback.from.databaseName,
      tableName: from?.tableName ?? fallback.from.tableName,
    },
    timestampValueExpression: timestampValueExpression ?? fallback.timestampValueExpression,
    ...(pickMembers(KeptSourceMembers, body) as KeptSourceMembers & Pick<Source, 'connection'>),
  };
  if (implicitColumnExpression !== undefined) source.implicitColumnExpression = implicitColumnExpression;
  if (bodyExpression !== undefined) source.bodyExpression = bodyExpression;
  if (durationExpression !== undefined) source.durationExpression = durationExpression;
  if (durationPrecision !== undefined) source.durationPrecision = durationPrecision;
  if (kind === 'metric' && metricTables) source.metricTables = pickTables(metricTables, fallback);
  return source;
}

function pickTables(given: NonNullable<SourceBody['metricTables']>, { metricTables = {} }: Source) {
  const types = Object.keys(metricTables) as (keyof typeof metricTables)[];
  return Object.fromEntries(types.flatMap((type) => (given[type] === undefined ? [] : [[type, given[type]]])));
}

/** Checks rules across several members. */
export function listSourceViolations({ kind, from, metricTables }: SourceBody): Violation[] {
  const tableName = from?.tableName;
  if (kind === 'metric')
    return tableName
      ? [
          {
            path: 'from.tableName',
            rule: 'A metric source uses metricTables instead of a table name',
            value: tableName,
          },
        ]
      : [];
  const violations: Violation[] = [];
  if (tableName === '') violations.push({ path: 'from.tableName', rule: 'The value must not be empty', value: '' });
  if (metricTables) {
    const rule = `Only metric sources have metricTables, not a source of kind ${kind}`;
    violations.push({ path: 'metricTables', rule, value: metricTables });
  }
  return violations;
}
