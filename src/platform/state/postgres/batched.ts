import type { Db } from '../tables.ts';
import { createSharedCalls } from './shared-calls.ts';

type Run<A> = (tx: Db, items: readonly A[]) => Promise<void>;

const batches = new WeakMap<Db, (run: Run<never>, items: readonly unknown[]) => Promise<void>>();

/** The changes of `tx` run at the same time. */
export function startBatching(tx: Db): void {
  const runAll = async (run: Run<never>, calls: readonly (readonly unknown[])[]) => {
    await run(tx, calls.flat() as never[]);
    return [];
  };
  batches.set(tx, createSharedCalls(runAll, 1));
}

/**
 * A write that changes in the same write group do together: `run` is called once with the items of all changes that wait for it.
 * Outside of a group, this is `run`.
 */
export const batched =
  <A>(run: Run<A>): Run<A> =>
  (tx, items) =>
    batches.get(tx)?.(run, items) ?? run(tx, items);
