import { hash } from 'node:crypto';
import { rejectViolations } from '../../kernel/errors.ts';
import { MAX_TIME_MS, MIN_TIME_MS } from '../charts/limits.ts';
import type { Range } from '../charts/queries/time-buckets.ts';
import { toNanos } from './nanos.ts';

/** The last returned row. Rows of the same time are ordered by their hash; `seen` of those with this hash were returned. */
export interface Tie {
  hash: string;
  seen: number;
}

/** Where a search continues. */
export interface Position {
  range: Range;
  /** Epoch nanoseconds. Rows from there on were returned; with a tie, some of this very time were not. */
  before: bigint;
  tie?: Tie | undefined;
  /** Longer windows took too long. */
  maxWindowMs?: number | undefined;
}

const CHECKSUM_CHARACTERS = 16;
const RULE = 'The cursor is not valid: send the cursor of the previous response, with the same query and time range';
const NANOS = /^\d{1,19}$/;
export const ROW_HASH = /^[0-9A-F]{32}$/;

/** `query` identifies the query that the cursor belongs to. */
export function formatCursor({ range, before, tie, maxWindowMs }: Position, query: string): string {
  const values = [range.startMs, range.endMs, String(before), tie?.hash ?? '', tie?.seen ?? 0, maxWindowMs ?? 0];
  const text = JSON.stringify(values);
  return createChecksum(text, query) + Buffer.from(text).toString('base64url');
}

/** Needs no secret: a forged cursor selects rows that the client may read anyway. */
export function parseCursor(cursor: string, query: string): Position {
  const text = Buffer.from(cursor.slice(CHECKSUM_CHARACTERS), 'base64url').toString();
  // Compares the whole text: decoding ignores characters outside the alphabet.
  const isIntact = createChecksum(text, query) + Buffer.from(text).toString('base64url') === cursor;
  const position = isIntact ? toPosition(parseJson(text)) : undefined;
  if (!position) rejectViolations([{ path: 'cursor', rule: RULE, value: cursor }]);
  return position as Position;
}

function toPosition(values: unknown): Position | undefined {
  if (!Array.isArray(values) || values.length !== 6) return undefined;
  const [startMs, endMs, before, hash, seen, maxWindowMs] = values;
  if (![startMs, endMs, seen, maxWindowMs].every((value) => Number.isSafeInteger(value) && value >= 0))
    return undefined;
  if (typeof before !== 'string' || !NANOS.test(before) || typeof hash !== 'string') return undefined;
  if (startMs < MIN_TIME_MS || endMs > MAX_TIME_MS || startMs >= endMs) return undefined;
  const nanos = BigInt(before);
  if (nanos < toNanos(startMs) || nanos > toNanos(endMs)) return undefined;
  if (hash !== '' && (!ROW_HASH.test(hash) || seen === 0)) return undefined;
  return {
    range: { startMs, endMs },
    before: nanos,
    tie: hash === '' ? undefined : { hash, seen },
    maxWindowMs: maxWindowMs || undefined,
  };
}

const createChecksum = (text: string, query: string): string =>
  hash('sha256', `${query}\n${text}`, 'base64url').slice(0, CHECKSUM_CHARACTERS);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
