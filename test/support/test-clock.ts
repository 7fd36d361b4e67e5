import type { Clock } from '../../src/kernel/time/clock.ts';

/** A clock that a test drives. */
export interface TestClock extends Clock {
  /** Time passes until then. A time in the past only sets the clock back. */
  set(time: string): void;
  /** Time passes. */
  add(ms: number): void;
  /** The clock is set forward or back; no time passes. */
  step(ms: number): void;
}

export function createTestClock(time: string): TestClock {
  let now = Date.parse(time);
  let monotonicMs = 0;
  const add = (ms: number) => {
    now += ms;
    monotonicMs += Math.max(0, ms);
  };
  return {
    now: () => now,
    monotonicMs: () => monotonicMs,
    add,
    set: (next) => add(Date.parse(next) - now),
    step(ms) {
      now += ms;
    },
  };
}

/**
 * The clock of a node that is wrong by 40 days, next to that of its store. What a test sees must come from the store's, so
 * each test with it shows that work does not read the clock of the node.
 */
export const createWrongClock = (store: Clock, aheadMs = 40 * 86_400_000): Clock => ({
  now: () => store.now() + aheadMs,
  monotonicMs: store.monotonicMs,
});
