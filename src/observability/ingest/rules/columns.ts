import type { Column } from '../../../platform/engine/engine.ts';
import type { Scope } from '../../expressions/scope.ts';
import { LOG_COLUMNS } from '../wire/logs.ts';
import type { Signal } from '../wire/otlp-messages.ts';
import { COMMON_COLUMNS } from '../wire/points.ts';
import { SPAN_COLUMNS } from '../wire/spans.ts';

/** How a column is written in a row; others are strings. */
const ENCODINGS = {
  map: 'Map(LowCardinality(String), String)',
  uint8: 'UInt8',
  uint32: 'UInt32',
  uint64: 'UInt64',
  time: 'DateTime64(9)',
  string: 'String',
} as const;
type Encoding = keyof typeof ENCODINGS;

const OTHERS: Readonly<Record<string, Encoding>> = {
  ResourceAttributes: 'map',
  ScopeAttributes: 'map',
  LogAttributes: 'map',
  SpanAttributes: 'map',
  Attributes: 'map',
  TraceFlags: 'uint8',
  SeverityNumber: 'uint8',
  ScopeDroppedAttrCount: 'uint32',
  Flags: 'uint32',
  Duration: 'uint64',
  Timestamp: 'time',
  StartTimeUnix: 'time',
  TimeUnix: 'time',
};

interface RowColumn {
  name: string;
  encoding: Encoding;
}

const toRow = (names: readonly string[]): RowColumn[] =>
  names.map((name) => ({ name, encoding: OTHERS[name] ?? 'string' }));

/** The columns at the start of each row of a signal, in their order. Of spans, those before the events; of data points, those that all kinds have. */
export const ROW_COLUMNS: Readonly<Record<Signal, readonly RowColumn[]>> = {
  logs: toRow(LOG_COLUMNS),
  traces: toRow(SPAN_COLUMNS.slice(0, SPAN_COLUMNS.indexOf('Events.Timestamp'))),
  metrics: toRow(COMMON_COLUMNS),
};

const IMPLICIT: Readonly<Record<Signal, string>> = { logs: 'Body', traces: 'SpanName', metrics: 'MetricName' };

const toColumns = (columns: readonly RowColumn[]): Column[] =>
  columns.map(({ name, encoding }) => ({ name, type: ENCODINGS[encoding] }));

/** What a condition may use. */
export const toScope = (signal: Signal): Scope => ({
  columns: toColumns(ROW_COLUMNS[signal]),
  implicitColumn: IMPLICIT[signal],
});
