import { OWN_DATABASE } from '../../platform/engine/engine.ts';
import { CONNECTION_ID, type KeptSourceMembers } from './kept-members.ts';

export const SOURCE_KINDS = ['log', 'trace', 'metric'] as const;
type SourceKind = (typeof SOURCE_KINDS)[number];

export const METRIC_DATA_TYPES = ['gauge', 'sum', 'histogram', 'summary', 'exponential histogram'] as const;
export type MetricDataType = (typeof METRIC_DATA_TYPES)[number];

/** Decimal places of a second. */
export const DURATION_PRECISIONS = [0, 3, 6, 9] as const;
type DurationPrecision = (typeof DURATION_PRECISIONS)[number];

/** A telemetry table that series reference by id. A metric source has a table per type of metric. */
export interface Source extends KeptSourceMembers {
  id: string;
  name: string;
  kind: SourceKind;
  from: { databaseName: string; tableName: string };
  /** A column of type DateTime or DateTime64. */
  timestampValueExpression: string;
  /** The column that bare words of a Lucene `where` search. */
  implicitColumnExpression?: string;
  bodyExpression?: string;
  /** The column with the duration of a span, and its unit: 9 for nanoseconds, 6, 3, or 0 for seconds. */
  durationExpression?: string;
  durationPrecision?: DurationPrecision;
  /** Only for a metric source, whose `from.tableName` is empty. */
  metricTables?: Partial<Record<MetricDataType, string>>;
  connection: string;
}

const METRIC_TABLES: Record<MetricDataType, string> = {
  gauge: 'otel_metrics_gauge',
  sum: 'otel_metrics_sum',
  histogram: 'otel_metrics_histogram',
  summary: 'otel_metrics_summary',
  'exponential histogram': 'otel_metrics_exponential_histogram',
};

/** The OpenTelemetry tables of the engine. */
const DEFAULTS: Record<SourceKind, Omit<Source, 'id' | 'name' | 'kind'>> = {
  log: {
    from: { databaseName: OWN_DATABASE, tableName: 'otel_logs' },
    timestampValueExpression: 'Timestamp',
    implicitColumnExpression: 'Body',
    bodyExpression: 'Body',
    connection: CONNECTION_ID,
    defaultTableSelectExpression: 'Timestamp, ServiceName, SeverityText, Body',
  },
  trace: {
    from: { databaseName: OWN_DATABASE, tableName: 'otel_traces' },
    timestampValueExpression: 'Timestamp',
    implicitColumnExpression: 'SpanName',
    bodyExpression: 'SpanName',
    durationExpression: 'Duration',
    durationPrecision: 9,
    connection: CONNECTION_ID,
    defaultTableSelectExpression: 'Timestamp, ServiceName, StatusCode, Duration, SpanName',
    traceIdExpression: 'TraceId',
    spanIdExpression: 'SpanId',
    parentSpanIdExpression: 'ParentSpanId',
    spanNameExpression: 'SpanName',
    spanKindExpression: 'SpanKind',
  },
  metric: {
    from: { databaseName: OWN_DATABASE, tableName: '' },
    timestampValueExpression: 'TimeUnix',
    metricTables: METRIC_TABLES,
    connection: CONNECTION_ID,
    resourceAttributesExpression: 'ResourceAttributes',
  },
};

export const defaultSource = (kind: SourceKind, id: string, name: string): Source => ({
  id,
  name,
  kind,
  ...structuredClone(DEFAULTS[kind]),
});

const inOwnTable = (source: Source, tableName: string): Source => ({ ...source, from: { ...source.from, tableName } });

/**
 * Every organization has these and cannot change them. A series without a sourceId uses `logs` or `metrics`. The last three
 * are the telemetry of Pilothouse itself, which is in no other source.
 */
export const BUILT_IN_SOURCES: readonly Source[] = [
  defaultSource('log', 'logs', 'Logs'),
  { ...defaultSource('trace', 'traces', 'Traces'), logSourceId: 'logs' },
  defaultSource('metric', 'metrics', 'Metrics'),
  inOwnTable(defaultSource('log', 'pilothouse-logs', 'Pilothouse logs'), 'pilothouse_logs'),
  {
    ...inOwnTable(defaultSource('trace', 'pilothouse-traces', 'Pilothouse traces'), 'pilothouse_traces'),
    logSourceId: 'pilothouse-logs',
  },
  {
    ...defaultSource('metric', 'pilothouse-metrics', 'Pilothouse metrics'),
    metricTables: {
      gauge: 'pilothouse_metrics_gauge',
      sum: 'pilothouse_metrics_sum',
      histogram: 'pilothouse_metrics_histogram',
    },
  },
];
