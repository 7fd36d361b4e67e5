import { queryError } from '../charts/queries/draft.ts';
import type { ResolvedSource } from '../charts/source-resolver.ts';
import { type Expression, getKind, isNullable } from '../expressions/expression.ts';
import { ExpressionError } from '../expressions/expression-error.ts';
import { parseValue } from '../expressions/sql/sql.ts';
import { quoteName, type Writer } from '../expressions/writer.ts';

/** The members of a source that name a value of a span or log, with the column of the OpenTelemetry tables. */
const COLUMNS = {
  traceIdExpression: 'TraceId',
  spanIdExpression: 'SpanId',
  parentSpanIdExpression: 'ParentSpanId',
  spanNameExpression: 'SpanName',
  spanKindExpression: 'SpanKind',
  serviceNameExpression: 'ServiceName',
  statusCodeExpression: 'StatusCode',
  statusMessageExpression: 'StatusMessage',
  severityTextExpression: 'SeverityText',
  bodyExpression: 'Body',
  durationExpression: 'Duration',
  resourceAttributesExpression: 'ResourceAttributes',
} as const;
type Member = keyof typeof COLUMNS;

/** Longer durations are no durations; the sum with a time must be an Int64. */
const MAX_DURATION_NS = 10n ** 18n;

export type SourceColumns = ReturnType<typeof createSourceColumns>;

/**
 * SQL of the values that a source names, through the expression parser. A member that the source lacks has the column of
 * the OpenTelemetry tables. `path` is the member of the request that names the source.
 */
export function createSourceColumns({ source, table }: ResolvedSource, writer: Writer, path = 'sourceId') {
  const hasColumn = (name: string): boolean => table.columns.some((column) => column.name === name);

  function find(member: Member | 'eventAttributesExpression', column: string): Expression | undefined {
    const text = source[member]?.trim() || column;
    if (text === column && !hasColumn(column)) return undefined;
    try {
      return parseValue(text, { columns: table.columns });
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      throw queryError(path, `The ${member} of the source ${source.id} cannot be used: ${error.message}`);
    }
  }

  function get(member: Member): Expression {
    const found = find(member, COLUMNS[member]);
    if (found) return found;
    throw queryError(
      path,
      `The source ${source.id} has no ${member}, and its table ${table.database}.${table.name} has no column ${COLUMNS[member]}`,
    );
  }

  const writeText = (expression: Expression | undefined): string => {
    if (!expression) return "''";
    const sql = writer.writeText(expression);
    return isNullable(expression) ? `ifNull(${sql}, '')` : sql;
  };

  function writeMap(expression: Expression | undefined): string {
    if (!expression || getKind(expression) !== 'map') return "CAST(map(), 'Map(String, String)')";
    const sql = writer.write(expression);
    const { element } = expression.type;
    return element?.kind === 'string' && !element.nullable
      ? sql
      : `mapApply((k, v) -> (toString(k), ifNull(toString(v), '')), ${sql})`;
  }

  /** The columns of a nested value, such as `Events.Name`, or the default if there is no such column. */
  const nested = (name: string, part: string, missing: string): string => {
    const column = `${name}.${part}`;
    return hasColumn(column) ? quoteName(column) : missing;
  };

  const eventName = source.spanEventsValueExpression?.trim() || 'Events';
  const linkName = source.spanLinksValueExpression?.trim() || 'Links';
  const NO_TEXTS = "CAST([], 'Array(String)')";
  const NO_MAPS = "CAST([], 'Array(Map(String, String))')";
  const optionalColumn = (name: string): string => (hasColumn(name) ? `toString(${quoteName(name)})` : "''");

  return {
    /** A value that queries of traces need: `bad_request` that names the member if the source lacks it. */
    requiredText: (member: Member): string => writeText(get(member)),
    text: (member: Member): string => writeText(find(member, COLUMNS[member])),
    /** Int64 of nanoseconds since 1970. */
    timeNs: `toUnixTimestamp64Nano(toDateTime64(${quoteName(table.timeColumn)}, 9))`,
    /** Int64; 0 if there is none. */
    durationNs(): string {
      const factor = 10n ** BigInt(9 - (source.durationPrecision ?? 9));
      const number = writer.writeNumber(get('durationExpression'));
      const nanoseconds = factor === 1n ? number : `${number} * ${factor}`;
      const integer = `ifNull(accurateCastOrNull(round(${nanoseconds}), 'Int64'), 0)`;
      return `least(greatest(${integer}, 0), ${MAX_DURATION_NS})`;
    },
    /** 1 or 0. */
    isError: (): string => matchesAny(writeText(find('statusCodeExpression', 'StatusCode')), ERRORS),
    isKind: (...kinds: SpanKind[]): string =>
      matchesAny(
        writeText(find('spanKindExpression', 'SpanKind')),
        kinds.flatMap((kind) => [kind, `span_kind_${kind}`]),
      ),
    attributes: (column: 'SpanAttributes' | 'LogAttributes'): string =>
      writeMap(find('eventAttributesExpression', column)),
    resourceAttributes: (): string => writeMap(find('resourceAttributesExpression', 'ResourceAttributes')),
    scopeName: optionalColumn('ScopeName'),
    scopeVersion: optionalColumn('ScopeVersion'),
    eventTimes: hasColumn(`${eventName}.Timestamp`)
      ? `arrayMap(t -> toUnixTimestamp64Nano(toDateTime64(t, 9)), ${quoteName(`${eventName}.Timestamp`)})`
      : "CAST([], 'Array(Int64)')",
    eventNames: nested(eventName, 'Name', NO_TEXTS),
    eventAttributes: nested(eventName, 'Attributes', NO_MAPS),
    linkTraceIds: nested(linkName, 'TraceId', NO_TEXTS),
    linkSpanIds: nested(linkName, 'SpanId', NO_TEXTS),
    linkTraceStates: nested(linkName, 'TraceState', NO_TEXTS),
    linkAttributes: nested(linkName, 'Attributes', NO_MAPS),
  };

  function matchesAny(sql: string, values: readonly string[]): string {
    return `(lower(${sql}) IN ${writer.bind(values, 'Array(String)')})`;
  }
}

type SpanKind = 'server' | 'client' | 'producer' | 'consumer';

/** How exporters name the status, in lower case. */
const ERRORS = ['error', 'status_code_error', '2'];

export const isErrorStatus = (status: string): boolean => ERRORS.includes(status.toLowerCase());
