import type { Db } from './tables.ts';

/** The state store: libSQL in a file, or PostgreSQL. The same queries run on both. */
export interface State {
  readonly kind: 'libsql' | 'postgres';
  /** For reading. Sees what is committed, and nothing that is not. */
  readonly db: Db;
  /**
   * Runs `work` in a transaction and answers once its changes are durable. When `work` throws, nothing of it stays.
   * `work` may run more than once (after a deadlock, or when a change in the same commit failed), so it has no effects
   * of its own.
   */
  write<T>(work: (tx: Db) => Promise<T>): Promise<T>;
  /** Throws what is wrong with the store, for `/readyz`. */
  check(): Promise<void>;
  /** The store's own idea of the time, in epoch milliseconds. */
  now(): Promise<number>;
  close(): Promise<void>;
}

/** Called after each statement and each commit, with how long it took. */
export interface StoreObserver {
  query(seconds: number): void;
  commit(seconds: number, changes: number): void;
}

export const unobserved: StoreObserver = { query() {}, commit() {} };
