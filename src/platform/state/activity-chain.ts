import { hash } from 'node:crypto';
import type { ActivityRow } from './tables.ts';

/** The newest link of an organization's audit log. */
export interface ChainHead {
  /** The number of activities. */
  sequence: number;
  /** In hexadecimal; empty if there are no activities. */
  hash: string;
}

export const EMPTY_CHAIN: Readonly<ChainHead> = { sequence: 0, hash: '' };

/** The columns that the hash of an activity covers. */
export type ChainedColumns = Omit<ActivityRow, 'sequence' | 'hash'>;

/**
 * The text of an activity that its hash covers, one column per line. Columns with text of users are JSON strings, and the
 * document is the last line, so no two rows have the same text. docs/decisions/audit-chain.md describes the format.
 */
export const encodeActivity = (row: ChainedColumns): string =>
  `${row.organization_id}\n${row.id}\n${row.created_at}\n${row.type}\n${JSON.stringify(row.actor_id)}\n${JSON.stringify(row.actor_name)}\n${JSON.stringify(row.resource_id)}\n${row.document}`;

export const hashLink = (previousHash: string, sequence: number, text: string): string =>
  hash('sha256', `${previousHash}\n${sequence}\n${text}`, 'hex');

export function appendToChain(head: Readonly<ChainHead>, text: string): ChainHead {
  const sequence = head.sequence + 1;
  return { sequence, hash: hashLink(head.hash, sequence, text) };
}
