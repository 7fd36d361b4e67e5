import { AppError } from '../../../kernel/errors.ts';
import type { Limits } from '../../../platform/engine/engine.ts';
import type { TailWatcher } from './tail-watcher.ts';

/** Finds the new rows of one table of an organization for its watchers. */
export interface TailReader {
  /** Resolves when rows that are stored from now on will be sent. Throws if the query is not valid. */
  add(watcher: TailWatcher, signal: AbortSignal | undefined): Promise<void>;
  /** Sends what is new since the last check. */
  check(watchers: readonly TailWatcher[]): Promise<void>;
}

/** Watchers of one statement. */
const WATCHERS_PER_STATEMENT = 20;

/** Of each statement. */
export const TAIL_LIMITS: Limits = {
  maxSeconds: 10,
  maxResultRows: 10_000,
  maxResultBytes: 8 * 2 ** 20,
  maxMemoryBytes: 300_000_000,
};

/**
 * Checks watchers with few statements. The queries of a group can be too much together: each is checked alone then, so that
 * one cannot stop the others. `fail` is told of a watcher whose own query is too much, or that the engine has failed.
 */
export async function checkInGroups(
  watchers: readonly TailWatcher[],
  check: (group: readonly TailWatcher[]) => Promise<void>,
  fail: (watcher: TailWatcher, error: unknown) => void,
): Promise<void> {
  for (let at = 0; at < watchers.length; at += WATCHERS_PER_STATEMENT)
    await checkGroup(watchers.slice(at, at + WATCHERS_PER_STATEMENT));

  async function checkGroup(group: readonly TailWatcher[]): Promise<void> {
    try {
      await check(group);
    } catch (error) {
      if (group.length > 1 && isTooMuch(error)) for (const watcher of group) await checkGroup([watcher]);
      else for (const watcher of group) fail(watcher, error);
      if (!(error instanceof AppError)) throw error;
    }
  }
}

/** A limit was exceeded; the same statement would exceed it again. */
export const isTooMuch = (error: unknown): boolean => error instanceof AppError && error.code === 'bad_request';

export const describeFailure = (error: unknown): string =>
  error instanceof AppError ? error.message : 'The engine failed';
