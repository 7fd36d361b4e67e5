import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from 'libsql';
import { isBusy } from './failures.ts';
import type { StoreObserver } from './state.ts';
import type { Db } from './tables.ts';

type Work<T> = (tx: Db) => Promise<T>;

/** One change that waits for its commit. */
interface Job {
  run(): Promise<void>;
  /** Its own failure, if it had one. */
  failure(): { error: unknown } | undefined;
  settle(commitFailure?: { error: unknown }): void;
}

interface Options {
  observer: StoreObserver;
  /** Called after each commit with its number of changes, before any of them resolves. */
  onCommit(changes: number): void;
}

/** One group at most; what comes later is in the next. Keeps a single commit, and the wait for it, short. */
const GROUP_LIMIT = 128;
const BUSY_FOR_MS = 5000;

/**
 * The one writer. Changes that wait at the same time are committed together: one fsync for all of them. Nobody is
 * answered before the commit. When one of them fails, the group is undone and done again with a savepoint around each,
 * so that the failure of one undoes that one only; most groups have no failure and are spared the savepoints.
 */
export function createGroupCommit(database: Database, tx: Db, { observer, onCommit }: Options) {
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
      waiting.push(createJob(work, resolve, reject));
      running ??= drain();
    });
  }

  function createJob<T>(work: Work<T>, resolve: (value: T) => void, reject: (error: unknown) => void): Job {
    let outcome: { value: T } | { error: unknown } | undefined;
    return {
      async run() {
        try {
          outcome = { value: await work(tx) };
        } catch (error) {
          outcome = { error };
        }
      },
      failure: () => (outcome && 'error' in outcome ? outcome : undefined),
      settle(commitFailure) {
        // First: what a change found in its way may be something that was not stored after all.
        if (commitFailure || !outcome) reject(commitFailure?.error);
        else if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.value);
      },
    };
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
    let failure: { error: unknown } | undefined;
    try {
      if (!(await runAll(group))) await runEachApart(group);
      commit.run();
      onCommit(group.length);
    } catch (error) {
      failure = { error };
      try {
        rollBack();
      } catch {
        // Tried again before the next group; whoever waits for this one is answered all the same.
      }
    }
    for (const job of group) job.settle(failure);
    observer.commit((performance.now() - startedAt) / 1000, group.length);
  }

  /** False as soon as one of them fails. */
  async function runAll(group: Job[]): Promise<boolean> {
    await beginAnew();
    for (const job of group) {
      await job.run();
      if (job.failure()) return false;
    }
    return true;
  }

  async function runEachApart(group: Job[]): Promise<void> {
    await beginAnew();
    for (const job of group) {
      save.run();
      await job.run();
      const failed = job.failure();
      // A full disk makes SQLite undo the whole transaction: there is nothing left to undo, and all of it failed.
      if (failed && !database.inTransaction) throw failed.error;
      if (failed) undo.run();
      release.run();
    }
  }

  async function beginAnew(): Promise<void> {
    rollBack();
    await beginWhenFree();
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
