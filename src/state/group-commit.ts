import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from 'libsql';
import { isBusy } from './failures.ts';
import type { StoreObserver } from './state.ts';
import type { Db } from './tables.ts';

type Work<T> = (tx: Db) => Promise<T>;

interface Job {
  run(): Promise<void>;
  settle(commitFailure?: unknown): void;
}

/** One group at most; what comes later is in the next. Keeps a single commit, and the wait for it, short. */
const GROUP_LIMIT = 128;
const BUSY_FOR_MS = 5000;

/**
 * The one writer. Changes that wait at the same time are committed together, each in a savepoint of its own: one
 * fsync for all of them, and the failure of one undoes that one only. Nobody is answered before the commit.
 */
export function createGroupCommit(database: Database, tx: Db, observer: StoreObserver) {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  const save = database.prepare('SAVEPOINT change');
  const release = database.prepare('RELEASE change');
  const undo = database.prepare('ROLLBACK TO change');

  let waiting: Job[] = [];
  let running: Promise<void> | undefined;

  function write<T>(work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let outcome: { value: T } | { error: unknown };
      waiting.push({
        async run() {
          save.run();
          try {
            outcome = { value: await work(tx) };
            release.run();
          } catch (error) {
            outcome = { error };
            // A full disk makes SQLite undo the whole transaction: there is nothing left to undo, and all of it failed.
            if (!database.inTransaction) throw error;
            undo.run();
            release.run();
          }
        },
        settle(commitFailure) {
          if (outcome && 'error' in outcome) reject(outcome.error);
          else if (commitFailure !== undefined) reject(commitFailure);
          else resolve(outcome.value);
        },
      });
      running ??= drain();
    });
  }

  async function drain(): Promise<void> {
    // One turn of the event loop: requests that have arrived together join the same group.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const group = waiting.slice(0, GROUP_LIMIT);
      waiting = waiting.slice(GROUP_LIMIT);
      await commitTogether(group);
    }
    running = undefined;
  }

  async function commitTogether(group: Job[]): Promise<void> {
    const startedAt = performance.now();
    let failure: unknown;
    try {
      rollBack();
      await beginWhenFree();
      for (const job of group) await job.run();
      commit.run();
    } catch (error) {
      failure = error;
      try {
        rollBack();
      } catch {
        // Tried again before the next group; whoever waits for this one is answered all the same.
      }
    }
    for (const job of group) job.settle(failure);
    observer.commit((performance.now() - startedAt) / 1000, group.length);
  }

  function rollBack(): void {
    if (database.inTransaction) rollback.run();
  }

  /** Another process may hold the file: wait for it here, where waiting does not stop the event loop. */
  async function beginWhenFree(): Promise<void> {
    for (const giveUpAt = performance.now() + BUSY_FOR_MS; ; await delay(5)) {
      try {
        begin.run();
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() > giveUpAt) throw error;
      }
    }
  }

  return {
    write,
    /** Resolves when everything handed in so far is settled. */
    async idle(): Promise<void> {
      await running;
    },
  };
}
