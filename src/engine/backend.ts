import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import type { Limits } from './engine.ts';

/** What the engine's operations run on: a child process of ours, or a server somewhere. */
export interface Backend {
  readonly kind: 'embedded' | 'server';
  /** Starts what has to be started. Throws `unavailable`. */
  connect(): Promise<Connection>;
  isRunning(): boolean;
  close(): Promise<void>;
}

export interface Connection {
  reader: ClickHouseClient;
  writer: ClickHouseClient;
  /** The settings of a reading statement; empty where the server lets us change none. */
  readSettings(limits: Required<Limits>): ClickHouseSettings;
  mayLackPrivileges: boolean;
  defaultMemoryBytes: number;
}

/** Read-only, limits, and numbers that survive JSON. */
export function limitSettings({ maxSeconds, maxResultRows, maxMemoryBytes }: Required<Limits>): ClickHouseSettings {
  return {
    max_execution_time: maxSeconds,
    max_result_rows: String(maxResultRows),
    result_overflow_mode: 'throw',
    max_memory_usage: String(maxMemoryBytes),
    // Quoted, because JSON.parse would round what is larger than 2^53.
    output_format_json_quote_64bit_integers: 1,
    output_format_json_quote_denormals: 0,
  };
}
