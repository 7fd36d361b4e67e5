import type { TableKind } from '../../../observability/own-telemetry/rows.ts';
import type { Counters } from './counters.ts';
import type { Range } from './coverage.ts';

/** Sent to the child once. */
export interface GenerationRequest {
  organizationId: string;
  seed: string;
  /** Multiples of the report interval, in the order in which they are generated. */
  ranges: Range[];
  /** From here on, the server generates the rows itself. */
  endMs: number;
}

/** The server's reply to each message: continue, or send the generated rows and exit. */
export type Reply = 'next' | 'stop';

/** Sent by the child: rows as lines of JSON, then the counters at the end. */
export type GeneratorMessage = { kind: TableKind; rows: number; lines: Uint8Array } | { counters: Counters };
