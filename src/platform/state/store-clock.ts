import type { Clock } from '../../kernel/time/clock.ts';

/**
 * The clock of a store on another machine, without a query for each time: the last measurement, and what has passed since
 * then by the monotonic clock. Never ahead of the store by what a measurement takes. How the clock of this machine is set
 * does not matter.
 */
export function createStoreClock(clock: Clock) {
  let measured: { at: number; monotonicMs: number } | undefined;
  return {
    clock: {
      now: () => (measured ? measured.at + clock.monotonicMs() - measured.monotonicMs : clock.now()),
      monotonicMs: clock.monotonicMs,
    } satisfies Clock,

    /** `at`: the time that the store has just answered. */
    measured(at: number): number {
      measured = { at, monotonicMs: clock.monotonicMs() };
      return at;
    },
  };
}
