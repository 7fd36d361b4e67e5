import type { Db } from './tables.ts';

/** Changes that share a transaction need fewer statements: one for what all of them read, and one for what they write. */

type Flush<T> = (tx: Db, items: readonly T[]) => Promise<void>;

/** Limits the memory of a large transaction. */
const MAX_DEFERRED = 1000;

const deferred = new WeakMap<Db, Map<Flush<never>, unknown[]>>();

/** Runs `work`, then what it deferred. */
export async function runWithDeferred<T>(tx: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  deferred.set(tx, new Map());
  const result = await work(tx);
  await flushDeferred(tx);
  return result;
}

/**
 * Calls `flush` once for many items, before the transaction commits, in the order of the first items. The transaction must
 * not read what was deferred. False if it does not defer.
 */
export async function deferToCommit<T>(tx: Db, flush: Flush<T>, item: T): Promise<boolean> {
  const pending = deferred.get(tx);
  if (!pending) return false;
  const items = pending.get(flush);
  if (items) items.push(item);
  else pending.set(flush, [item]);
  if (items && items.length >= MAX_DEFERRED) await flushDeferred(tx);
  return true;
}

/** For a statement that must follow what was deferred. */
export async function flushDeferred(tx: Db): Promise<void> {
  const pending = deferred.get(tx);
  if (!pending) return;
  const all = [...pending];
  pending.clear();
  for (const [flush, items] of all) await flush(tx, items as never[]);
}

/** Transactions whose changes run at the same time. */
const concurrent = new WeakSet<Db>();

/**
 * Runs the changes at the same time. Resolves when all have ended. Throws the error that came first: it is the cause of those
 * that follow in the same transaction.
 */
export async function runConcurrently(tx: Db, works: readonly ((tx: Db) => Promise<unknown>)[]): Promise<unknown[]> {
  concurrent.add(tx);
  const errors: unknown[] = [];
  const results = await Promise.all(works.map((work) => work(tx).catch((error: unknown) => void errors.push(error))));
  if (errors.length > 0) throw errors[0];
  return results;
}

/**
 * A read that changes in the same transaction do together: the calls of one turn of the event loop are one call of `readAll`,
 * which returns their results in the same order. Otherwise, a call is one of `readOne`.
 */
export function groupedRead<A, R>(
  readOne: (tx: Db, argument: A) => Promise<R>,
  readAll: (tx: Db, all: readonly A[]) => Promise<readonly R[]>,
): (tx: Db, argument: A) => Promise<R> {
  const waiting = new WeakMap<Db, { all: A[]; results: Promise<readonly R[]> }>();

  function join(tx: Db): { all: A[]; results: Promise<readonly R[]> } {
    const current = waiting.get(tx);
    if (current) return current;
    const all: A[] = [];
    const results = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      waiting.delete(tx);
      return readAll(tx, all);
    });
    const turn = { all, results };
    waiting.set(tx, turn);
    return turn;
  }

  return (tx, argument) => {
    if (!concurrent.has(tx)) return readOne(tx, argument);
    const { all, results } = join(tx);
    const index = all.push(argument) - 1;
    return results.then((read) => read[index] as R);
  };
}
