import { createLargeCache } from '../../../kernel/memo.ts';
import type { RateCounter } from '../../../kernel/rate-counter.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { MAX_WINDOWS } from './rate-window.ts';

/** A counter in the memory of this process. */
export function createLocalRateCounter(clock: Pick<Clock, 'monotonicMs'>): RateCounter {
  const windows = createLargeCache<string, { endsAt: number; taken: number }>(MAX_WINDOWS);
  return {
    async add(id, count, windowSeconds) {
      const now = clock.monotonicMs();
      let window = windows.get(id);
      if (!window || window.endsAt <= now) {
        window = { endsAt: now + windowSeconds * 1000, taken: 0 };
        windows.set(id, window);
      }
      window.taken += count;
      return { taken: window.taken, restMs: window.endsAt - now };
    },
  };
}

/** The counter of one kind of limit: the same id has another count in another kind. */
export const prefixIds = (counter: RateCounter | undefined, prefix: string): RateCounter | undefined =>
  counter && { add: (id, count, windowSeconds) => counter.add(`${prefix} ${id}`, count, windowSeconds) };

/** While the counter fails, this process counts for itself. */
export function countLocallyOnFailure(
  counter: RateCounter | undefined,
  clock: Pick<Clock, 'monotonicMs'>,
): RateCounter | undefined {
  const local = createLocalRateCounter(clock);
  return counter && { add: (...addition) => counter.add(...addition).catch(() => local.add(...addition)) };
}
