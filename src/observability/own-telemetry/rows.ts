/** The engine's telemetry tables: the columns of OpenTelemetry's ClickHouse exporter plus the organization. */
export const TABLES = {
  logs: 'otel_logs',
  traces: 'otel_traces',
  gauge: 'otel_metrics_gauge',
  sum: 'otel_metrics_sum',
  histogram: 'otel_metrics_histogram',
  exponentialHistogram: 'otel_metrics_exponential_histogram',
  summary: 'otel_metrics_summary',
} as const;

export type TableKind = keyof typeof TABLES;

/** The tables of the server's own telemetry, with the same columns. Sources of users do not read them. */
export const OWN_TABLES = {
  logs: 'pilothouse_logs',
  traces: 'pilothouse_traces',
  gauge: 'pilothouse_metrics_gauge',
  sum: 'pilothouse_metrics_sum',
  histogram: 'pilothouse_metrics_histogram',
} as const satisfies Partial<Record<TableKind, string>>;

/** `AggregationTemporality` of sums and histograms. */
export const DELTA = 1;
export const CUMULATIVE = 2;

/** A `DateTime64(9)` as epoch seconds with nine decimals, independent of time zones. */
type UnixTime = string;

export type Attributes = Record<string, string>;

interface Row {
  OrganizationId: string;
  ServiceName: string;
  ResourceAttributes: Attributes;
  ScopeName: string;
}

export interface LogRow extends Row {
  Timestamp: UnixTime;
  TraceId: string;
  SpanId: string;
  SeverityText: string;
  SeverityNumber: number;
  Body: string;
  LogAttributes: Attributes;
}

export interface SpanRow extends Row {
  Timestamp: UnixTime;
  TraceId: string;
  SpanId: string;
  /** Empty for the root span of a trace. */
  ParentSpanId: string;
  SpanName: string;
  SpanKind: 'Server' | 'Client' | 'Internal' | 'Producer' | 'Consumer';
  SpanAttributes: Attributes;
  /** Nanoseconds. */
  Duration: number;
  StatusCode: 'Unset' | 'Ok' | 'Error';
  StatusMessage: string;
  'Events.Timestamp'?: UnixTime[];
  'Events.Name'?: string[];
  'Events.Attributes'?: Attributes[];
}

export interface MetricRow extends Row {
  MetricName: string;
  MetricDescription: string;
  MetricUnit: string;
  Attributes: Attributes;
  StartTimeUnix: UnixTime;
  TimeUnix: UnixTime;
}

interface GaugeRow extends MetricRow {
  Value: number;
}

interface SumRow extends MetricRow {
  Value: number;
  AggregationTemporality: number;
  IsMonotonic: boolean;
}

interface HistogramRow extends MetricRow {
  Count: number;
  Sum: number;
  /** One more than the bounds: the last is for values above all bounds. */
  BucketCounts: number[];
  ExplicitBounds: readonly number[];
  Min: number;
  Max: number;
  AggregationTemporality: number;
}

interface ExponentialHistogramRow extends MetricRow {
  Count: number;
  Sum: number;
  Scale: number;
  ZeroCount: number;
  PositiveOffset: number;
  PositiveBucketCounts: number[];
  NegativeOffset: number;
  NegativeBucketCounts: number[];
  Min: number;
  Max: number;
  AggregationTemporality: number;
}

interface SummaryRow extends MetricRow {
  Count: number;
  Sum: number;
  'ValueAtQuantiles.Quantile': number[];
  'ValueAtQuantiles.Value': number[];
}

interface RowByKind {
  logs: LogRow;
  traces: SpanRow;
  gauge: GaugeRow;
  sum: SumRow;
  histogram: HistogramRow;
  exponentialHistogram: ExponentialHistogramRow;
  summary: SummaryRow;
}

/** Rows by table. */
export type TelemetryRows = { [kind in TableKind]: RowByKind[kind][] };

export const createTelemetryRows = (): TelemetryRows => ({
  logs: [],
  traces: [],
  gauge: [],
  sum: [],
  histogram: [],
  exponentialHistogram: [],
  summary: [],
});

export const TABLE_KINDS = Object.keys(TABLES) as TableKind[];

const NANOS_PER_MS = 1e6;

/** `ms` may be fractional; a double is precise to about a quarter of a microsecond today. */
export function unixTime(ms: number): UnixTime {
  const seconds = Math.floor(ms / 1000);
  const nanos = Math.min(999_999_999, Math.round((ms - seconds * 1000) * NANOS_PER_MS));
  return `${seconds}.${String(nanos).padStart(9, '0')}`;
}

export const toNanos = (ms: number): number => Math.round(ms * NANOS_PER_MS);
