import type { Clock } from '../../kernel/time/clock.ts';
import type { StoreWarning } from './disk-warning.ts';
import type { Db } from './tables.ts';

/** The state store: libSQL in a file, or PostgreSQL. The same queries run on both. */
export interface State {
  readonly kind: 'libsql' | 'postgres';
  /** For reading. Sees committed data only. */
  readonly db: Db;
  /**
   * Runs `work` in a transaction and resolves once its changes are durable. If `work` throws, its changes are rolled back.
   * `work` may run more than once (after a deadlock, or if another change in the same commit failed), so it must have no
   * side effects. With `row`, it may run at the same time as changes of other rows in the same transaction, so it must not
   * depend on other rows.
   */
  write<T>(work: (tx: Db) => Promise<T>, row?: ChangedRow): Promise<T>;
  /**
   * As `write`, but does not wait for other changes to end. For leases, which expire if they are not renewed in time; they
   * do not wait for the lock of an organization either.
   */
  writeNow<T>(work: (tx: Db) => Promise<T>): Promise<T>;
  /** Throws if the store cannot be written, for `/readyz`. */
  check(): Promise<void>;
  /** Problems that changes ran into within the last minute, although the store can be written. */
  listWarnings(): StoreWarning[];
  /** The store's clock, in epoch milliseconds; the same for all nodes. Asks the store. */
  now(): Promise<number>;
  /** As `now`, without a query: as of the last one, and what has passed since then by the monotonic clock. */
  readonly clock: Clock;
  close(): Promise<void>;
}

/** The only row that a change locks and writes, apart from that of its organization. */
export interface ChangedRow {
  organizationId: string;
  id: string;
}

/**
 * Passed to an operation that should store something together with its change. The operation calls it in the transaction
 * of the change, with the result of the change.
 */
export type InTransaction<T> = (tx: Db, result: T) => Promise<void>;

/** Receives the duration of each statement and each commit. */
export interface StoreObserver {
  query(seconds: number): void;
  commit(seconds: number, changes: number): void;
}

export const unobserved: StoreObserver = { query() {}, commit() {} };
