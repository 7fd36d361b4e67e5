/** A value, or a promise of one: libSQL returns synchronously, PostgreSQL does not. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Applies `next` at once to a value, and later to a promised one. For code that runs on every request: each promise
 * avoided saves a turn of the microtask queue. An error of `next` is thrown in the first case, rejected in the second.
 */
export function mapMaybe<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Runs `work` and reports its outcome to a Node-style callback. */
export function runWithCallback(done: (error?: Error) => void, work: () => MaybePromise<void>): void {
  let outcome: MaybePromise<void>;
  try {
    outcome = work();
  } catch (error) {
    done(error as Error);
    return;
  }
  if (outcome instanceof Promise) outcome.then(() => done(), done);
  else done();
}
