import { setImmediate } from 'node:timers/promises';
import { AppError } from '../../../kernel/errors.ts';
import { registerDirectRunner } from '../prepared.ts';
import type { ChangedRow } from '../state.ts';
import type { Db } from '../tables.ts';
import { startBatching } from './batched.ts';
import { createGroupRunner } from './postgres-reads.ts';

type Work<T> = (tx: Db) => Promise<T>;
type Transact = <T>(work: Work<T>, changes?: number) => Promise<T>;

/** A change that waits for its commit. */
interface Job {
  id: string;
  work: Work<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** The maximum number of changes per commit: other processes wait for the locks of all of them. */
const GROUP_LIMIT = 32;

/**
 * Changes of an organization wait for each other, because each adds to its audit log. Those that wait at the same time, for
 * different rows, share one transaction and one commit. If one of them fails, each is repeated in a separate transaction.
 */
export function createWriteGroups(transact: Transact) {
  /** By organization; has an entry while a transaction runs. */
  const waiting = new Map<string, Job[]>();

  function write<T>({ organizationId, id }: ChangedRow, work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const job: Job = { id, work, resolve: resolve as Job['resolve'], reject };
      const jobs = waiting.get(organizationId);
      if (jobs) jobs.push(job);
      else {
        waiting.set(organizationId, [job]);
        void drain(organizationId);
      }
    });
  }

  async function drain(organizationId: string): Promise<void> {
    // Requests that arrived together share a commit.
    await setImmediate();
    for (let jobs = waiting.get(organizationId); jobs && jobs.length > 0; jobs = waiting.get(organizationId)) {
      const { group, rest } = takeGroup(jobs);
      waiting.set(organizationId, rest);
      await commit(group);
    }
    waiting.delete(organizationId);
  }

  async function commit(group: readonly Job[]): Promise<void> {
    if (group.length > 1 && (await commitTogether(group))) return;
    for (const { work, resolve, reject } of group) await transact(work).then(resolve, reject);
  }

  /** False if a change failed. */
  async function commitTogether(group: readonly Job[]): Promise<boolean> {
    const works = group.map(({ work }) => work);
    try {
      const values = await transact((tx) => runConcurrently(tx, works), group.length);
      for (const [index, job] of group.entries()) job.resolve(values[index]);
      return true;
    } catch (error) {
      // A server that cannot be reached fails all of them: each would wait for the same timeout again.
      if (!(error instanceof AppError && error.code === 'unavailable')) return false;
      for (const job of group) job.reject(error);
      return true;
    }
  }

  return { write };
}

/** The first change of each row. The others keep their order. */
function takeGroup(jobs: readonly Job[]): { group: Job[]; rest: Job[] } {
  const [group, rest]: [Job[], Job[]] = [[], []];
  const ids = new Set<string>();
  for (const job of jobs) {
    if (ids.has(job.id) || group.length === GROUP_LIMIT) rest.push(job);
    else group.push(job);
    ids.add(job.id);
  }
  return { group, rest };
}

/**
 * Runs the changes at the same time. Resolves when all have ended. Throws the error that came first: it is the cause of those
 * that follow in the same transaction.
 */
async function runConcurrently(tx: Db, works: readonly Work<unknown>[]): Promise<unknown[]> {
  startBatching(tx);
  registerDirectRunner(tx, createGroupRunner(tx));
  const errors: unknown[] = [];
  const results = await Promise.all(works.map((work) => work(tx).catch((error: unknown) => void errors.push(error))));
  if (errors.length > 0) throw errors[0];
  return results;
}
