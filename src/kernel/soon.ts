/** A value that is there already, or will be: libSQL answers at once, PostgreSQL later. */
export type Soon<T> = T | Promise<T>;

/**
 * Goes on at once with a value that is there, and later with one that is promised. For what every request does: each
 * promise that is not made saves a turn of the microtask queue. Throws at once, or rejects later.
 */
export function soon<T, U>(value: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Runs `work` and tells a callback how it went. */
export function reportTo(done: (error?: Error) => void, work: () => Soon<void>): void {
  let outcome: Soon<void>;
  try {
    outcome = work();
  } catch (error) {
    done(error as Error);
    return;
  }
  if (outcome instanceof Promise) outcome.then(() => done(), done);
  else done();
}
