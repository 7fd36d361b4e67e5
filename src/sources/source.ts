import { OWN_DATABASE } from '../engine/engine.ts';

export const SOURCE_KINDS = ['log', 'trace', 'metric'] as const;
type SourceKind = (typeof SOURCE_KINDS)[number];

export const METRIC_DATA_TYPES = ['gauge', 'sum', 'histogram', 'summary', 'exponential histogram'] as const;
export type MetricDataType = (typeof METRIC_DATA_TYPES)[number];

/** A telemetry table that series refer to by its id; a metric source has a table for each kind of metric. */
export interface Source {
  id: string;
  name: string;
  kind: SourceKind;
  from: { databaseName: string; tableName: string };
  /** A column of type DateTime or DateTime64. */
  timestampValueExpression: string;
  /** The column that bare words of a Lucene `where` are looked up in. */
  implicitColumnExpression?: string;
  bodyExpression?: string;
  /** Of a metric source, which has an empty `from.tableName`. */
  metricTables?: Partial<Record<MetricDataType, string>>;
}

const METRIC_TABLES: Record<MetricDataType, string> = {
  gauge: 'otel_metrics_gauge',
  sum: 'otel_metrics_sum',
  histogram: 'otel_metrics_histogram',
  summary: 'otel_metrics_summary',
  'exponential histogram': 'otel_metrics_exponential_histogram',
};

/** What a source of a kind is when nothing else is said: the OpenTelemetry tables of the engine. */
const DEFAULTS: Record<SourceKind, Omit<Source, 'id' | 'name' | 'kind'>> = {
  log: {
    from: { databaseName: OWN_DATABASE, tableName: 'otel_logs' },
    timestampValueExpression: 'Timestamp',
    implicitColumnExpression: 'Body',
    bodyExpression: 'Body',
  },
  trace: {
    from: { databaseName: OWN_DATABASE, tableName: 'otel_traces' },
    timestampValueExpression: 'Timestamp',
    implicitColumnExpression: 'SpanName',
    bodyExpression: 'SpanName',
  },
  metric: {
    from: { databaseName: OWN_DATABASE, tableName: '' },
    timestampValueExpression: 'TimeUnix',
    metricTables: METRIC_TABLES,
  },
};

export const defaultSource = (kind: SourceKind, id: string, name: string): Source => ({
  id,
  name,
  kind,
  ...structuredClone(DEFAULTS[kind]),
});

/** Every organization has these; they cannot be changed. A series that names no source gets the one of its kind. */
export const BUILT_IN_SOURCES: readonly Source[] = [
  defaultSource('log', 'logs', 'Logs'),
  defaultSource('trace', 'traces', 'Traces'),
  defaultSource('metric', 'metrics', 'Metrics'),
];
