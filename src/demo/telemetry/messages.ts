import type { TableKind } from '../../telemetry/rows.ts';
import type { Counters } from './counters.ts';
import type { Range } from './coverage.ts';

/** What the child is asked for, once. */
export interface GenerationRequest {
  organizationId: string;
  seed: string;
  /** Whole intervals of reports, oldest first. */
  ranges: Range[];
  /** Where the server goes on by itself. */
  endMs: number;
}

/** The server's answer to each piece: go on, or send what is made and end. */
export type Reply = 'next' | 'stop';

/** What the child sends: rows as lines of JSON, then how its counters stand at the end. */
export type GeneratorMessage = { kind: TableKind; rows: number; lines: Uint8Array } | { counters: Counters };
