import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import type { EngineAccess, Limits } from '../engine.ts';

/** Runs the engine's operations: the embedded child process or an external ClickHouse server. */
export interface Backend {
  readonly kind: 'embedded' | 'server';
  /** How many queries run at the same time. */
  readonly concurrency: number;
  /** Starts the engine if necessary. Throws `unavailable`. */
  connect(): Promise<Connection>;
  isRunning(): boolean;
  /** For other processes of this server; only an embedded engine needs it. Starts the engine if necessary. */
  getAccess?(): Promise<EngineAccess>;
  close(): Promise<void>;
}

export interface Connection {
  reader: ClickHouseClient;
  writer: ClickHouseClient;
  /** The settings of a read-only statement; empty if the server allows no settings. */
  readSettings(limits: Required<Limits>): ClickHouseSettings;
  /** True for a server whose user may not be allowed to create our tables. */
  mayLackPrivileges: boolean;
  defaultMemoryBytes: number;
  /** The cluster whose shards hold our tables; undefined for a single server. */
  cluster?: string | undefined;
}

/** The settings of a read-only statement. */
export const toReadSettings = (limits: Required<Limits>): ClickHouseSettings => ({
  ...limitSettings(limits),
  cancel_http_readonly_queries_on_client_close: 1,
  // Otherwise an error after the first rows would be part of a response with status 200.
  wait_end_of_query: 1,
  readonly: '1',
});

/** The limits of a statement, and a number format that JSON can represent exactly. */
function limitSettings({
  maxSeconds,
  maxResultRows,
  maxResultBytes,
  maxMemoryBytes,
}: Required<Limits>): ClickHouseSettings {
  return {
    max_execution_time: maxSeconds,
    max_result_rows: String(maxResultRows),
    max_result_bytes: String(maxResultBytes),
    result_overflow_mode: 'throw',
    max_memory_usage: String(maxMemoryBytes),
    // Quoted: JSON.parse would round integers above 2^53.
    output_format_json_quote_64bit_integers: 1,
    output_format_json_quote_denormals: 0,
  };
}
