import { TABLES, type TableKind } from '../own-telemetry/rows.ts';
import type { Signal } from './wire/otlp-messages.ts';

interface SignalTables {
  /** The column with the time of a row. */
  time: string;
  tables: readonly string[];
}

const toTables = (time: string, kinds: readonly TableKind[]): SignalTables => ({
  time,
  tables: kinds.map((kind) => TABLES[kind]),
});

/** Where the rows of each signal are. */
export const SIGNAL_TABLES: Readonly<Record<Signal, SignalTables>> = {
  logs: toTables('Timestamp', ['logs']),
  traces: toTables('Timestamp', ['traces']),
  metrics: toTables('TimeUnix', ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary']),
};
