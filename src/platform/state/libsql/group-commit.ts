import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from 'libsql';
import { isBusy } from '../failures.ts';
import type { StoreObserver } from '../state.ts';
import type { Db } from '../tables.ts';

type Work<T> = (tx: Db) => Promise<T>;

/** A change that waits for its commit. */
interface Job {
  run(): Promise<void>;
  /** The error of this change, if it failed. */
  failure(): { error: unknown } | undefined;
  settle(commitFailure?: { error: unknown }): void;
}

interface Options {
  observer: StoreObserver;
  /** Called after each commit with its number of changes, before any of them resolves. */
  onCommit(changes: number): void;
}

/** The maximum number of changes per commit, to keep a single commit short. */
const GROUP_LIMIT = 128;
const BUSY_TIMEOUT_MS = 5000;

/**
 * The only writer. Changes that wait at the same time share one commit and one fsync, and resolve after the commit. If a
 * change fails, the group is rolled back and repeated with a savepoint around each change, so that only the failed one
 * is undone. Groups without a failure do not pay for savepoints.
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
        // A failed commit takes precedence: the change may have failed because of data that was never committed.
        if (commitFailure || !outcome) reject(commitFailure?.error);
        else if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.value);
      },
    };
  }

  async function drain(): Promise<void> {
    // Wait one turn of the event loop, so that requests that arrived together share a commit.
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
      if (!(await runAll(group))) await runWithSavepoints(group);
      commit.run();
      onCommit(group.length);
    } catch (error) {
      failure = { error };
      try {
        rollBack();
      } catch {
        // Retried before the next group. The changes of this group are rejected in any case.
      }
    }
    for (const job of group) job.settle(failure);
    observer.commit((performance.now() - startedAt) / 1000, group.length);
  }

  /** Returns false at the first failure. */
  async function runAll(group: Job[]): Promise<boolean> {
    await restart();
    for (const job of group) {
      await job.run();
      if (job.failure()) return false;
    }
    return true;
  }

  async function runWithSavepoints(group: Job[]): Promise<void> {
    await restart();
    for (const job of group) {
      save.run();
      await job.run();
      const failed = job.failure();
      // If the disk is full, SQLite rolls back the whole transaction: all changes failed.
      if (failed && !database.inTransaction) throw failed.error;
      if (failed) undo.run();
      release.run();
    }
  }

  async function restart(): Promise<void> {
    rollBack();
    await beginWhenFree();
  }

  function rollBack(): void {
    if (database.inTransaction) rollback.run();
  }

  /** Waits for another process to release the file, without blocking the event loop. */
  async function beginWhenFree(): Promise<void> {
    for (const giveUpAt = performance.now() + BUSY_TIMEOUT_MS; ; await delay(5)) {
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
    /** Resolves when all changes so far are settled. */
    async idle(): Promise<void> {
      await running;
    },
  };
}
