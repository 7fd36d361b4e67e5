import { TABLES, type TableKind } from '../own-telemetry/rows.ts';
import type { Signal } from './wire/otlp-messages.ts';

interface SignalTables {
  /** The column with the time of a row. */
  time: string;
  tables: readonly string[];
  /** Tables that the engine fills from these, with their time. */
  derived: readonly { table: string; time: string }[];
}

const toTables = (time: string, kinds: readonly TableKind[], derived: SignalTables['derived'] = []): SignalTables => ({
  time,
  tables: kinds.map((kind) => TABLES[kind]),
  derived,
});

/** Where the rows of each signal are. */
export const SIGNAL_TABLES: Readonly<Record<Signal, SignalTables>> = {
  logs: toTables('Timestamp', ['logs'], [{ table: 'otel_logs_values', time: 'Hour' }]),
  traces: toTables(
    'Timestamp',
    ['traces'],
    [
      { table: 'otel_traces_values', time: 'Hour' },
      { table: 'otel_trace_times', time: 'First' },
    ],
  ),
  metrics: toTables('TimeUnix', ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary']),
};
