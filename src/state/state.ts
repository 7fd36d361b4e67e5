import type { Db } from './tables.ts';

/** The state store: libSQL in a file, or PostgreSQL. The same queries run on both. */
export interface State {
  readonly kind: 'libsql' | 'postgres';
  /** For reading. Sees committed data only. */
  readonly db: Db;
  /**
   * Runs `work` in a transaction and resolves once its changes are durable. If `work` throws, its changes are rolled back.
   * `work` may run more than once (after a deadlock, or if another change in the same commit failed), so it must have no
   * side effects.
   */
  write<T>(work: (tx: Db) => Promise<T>): Promise<T>;
  /** Throws if the store cannot be written, for `/readyz`. */
  check(): Promise<void>;
  /** The store's clock, in epoch milliseconds; the same for all nodes. */
  now(): Promise<number>;
  close(): Promise<void>;
}

/** Receives the duration of each statement and each commit. */
export interface StoreObserver {
  query(seconds: number): void;
  commit(seconds: number, changes: number): void;
}

export const unobserved: StoreObserver = { query() {}, commit() {} };
