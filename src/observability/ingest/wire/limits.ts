/** What a record may contain. A record beyond a limit is rejected as a whole; nothing is cut off. */
export const LIMITS = {
  /** Resources, scopes, metrics and records of a request: empty ones have two bytes and take as much time as others. */
  parts: 1_000_000,
  /** Of a record, as it was sent. */
  recordBytes: 1024 * 1024,
  /** Of a record, a resource, a scope, an event or a link. */
  attributes: 1024,
  keyBytes: 1024,
  valueBytes: 256 * 1024,
  /** Of a resource or a scope, all keys and values together: they are stored with each of their records. */
  sharedBytes: 64 * 1024,
  /** Of arrays and maps inside a value. */
  depth: 16,
  /** Of a span, and exemplars of a data point. */
  items: 1024,
  /** Of a histogram. */
  buckets: 10_000,
} as const;

/**
 * A record that is not stored. The others of its request are. Not an `Error`: a request may have a million of them, and to record a
 * stack takes ten times as long as to read a record.
 */
export class RejectedRecord {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** A request with more parts than `LIMITS.parts`. */
export class TooManyParts extends Error {}

/** The conditions of the rules took too long for the records of a request. */
export class SlowRules extends Error {}

export function reject(reason: string): never {
  throw new RejectedRecord(reason);
}
