import type { Violation } from '../../kernel/errors.ts';
import { pickMembers } from '../../kernel/json/pick-members.ts';
import { KeptSourceMembers } from './kept-members.ts';
import type { SourceBody } from './schema.ts';
import { BUILT_IN_SOURCES, defaultSource, METRIC_DATA_TYPES, type Source } from './source.ts';

export const isBuiltIn = (id: string): boolean => BUILT_IN_SOURCES.some((source) => source.id === id);

/**
 * The source as it is stored and returned: what was sent, without unknown members. Clients compare it with what they sent,
 * so only members that every source needs get a default here; `applyDefaults` adds the others for queries.
 */
export function normalizeSource(id: string, body: SourceBody): Source {
  const { kind, name, from, timestampValueExpression, implicitColumnExpression, bodyExpression, metricTables } = body;
  const { durationExpression, durationPrecision } = body;
  const fallback = defaultSource(kind, id, name);
  const source: Source = {
    id,
    name,
    kind,
    from: {
      databaseName: from?.databaseName ?? fallback.from.databaseName,
      tableName: from?.tableName ?? fallback.from.tableName,
    },
    timestampValueExpression: timestampValueExpression ?? fallback.timestampValueExpression,
    connection: fallback.connection,
    ...(pickMembers(KeptSourceMembers, body) as KeptSourceMembers),
  };
  if (implicitColumnExpression !== undefined) source.implicitColumnExpression = implicitColumnExpression;
  if (bodyExpression !== undefined) source.bodyExpression = bodyExpression;
  if (durationExpression !== undefined) source.durationExpression = durationExpression;
  if (durationPrecision !== undefined) source.durationPrecision = durationPrecision;
  if (kind === 'metric' && metricTables) source.metricTables = pickTables(metricTables);
  return source;
}

/** The source with the columns and tables of OpenTelemetry where it does not say otherwise. */
export const applyDefaults = (source: Source): Source => ({
  ...defaultSource(source.kind, source.id, source.name),
  ...source,
});

const pickTables = (given: NonNullable<SourceBody['metricTables']>) =>
  Object.fromEntries(METRIC_DATA_TYPES.flatMap((type) => (given[type] === undefined ? [] : [[type, given[type]]])));

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
