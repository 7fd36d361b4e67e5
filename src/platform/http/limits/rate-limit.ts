import { AppError } from '../../../kernel/errors.ts';
import { createLargeCache } from '../../../kernel/memo.ts';
import type { RateCounter } from '../../../kernel/rate-counter.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { MAX_WINDOWS, type RateLimit, type RateLimiter, type RateLimitStatus, toResetSeconds } from './rate-window.ts';
import { createSharedRateLimiter } from './shared-rate-limit.ts';

interface Window {
  endsAt: number;
  count: number;
}

/** With a counter, all processes that use it keep the limit together; otherwise this process counts for itself. */
export function createRateLimiter(limit: RateLimit, clock: Pick<Clock, 'monotonicMs'>): RateLimiter<RateLimitStatus>;
export function createRateLimiter(
  limit: RateLimit,
  clock: Pick<Clock, 'monotonicMs'>,
  counter: RateCounter | undefined,
): RateLimiter;
export function createRateLimiter(
  limit: RateLimit,
  clock: Pick<Clock, 'monotonicMs'>,
  counter?: RateCounter,
): RateLimiter {
  return counter ? createSharedRateLimiter(limit, clock, counter) : createLocalRateLimiter(limit, clock);
}

function createLocalRateLimiter(
  { requests, windowSeconds }: RateLimit,
  clock: Pick<Clock, 'monotonicMs'>,
): RateLimiter<RateLimitStatus> {
  const windowMs = windowSeconds * 1000;
  const windows = createLargeCache<string, Window>(MAX_WINDOWS);

  function findWindow(id: string, now: number): Window | undefined {
    const window = windows.get(id);
    return window && window.endsAt > now ? window : undefined;
  }

  const toStatus = ({ count, endsAt }: Window, now: number, isAllowed: boolean): RateLimitStatus => ({
    isAllowed,
    remaining: requests - count,
    resetSeconds: toResetSeconds(endsAt - now, windowSeconds),
  });

  return {
    take(id) {
      const now = clock.monotonicMs();
      let window = findWindow(id, now);
      if (!window) {
        window = { endsAt: now + windowMs, count: 0 };
        windows.set(id, window);
      }
      const isAllowed = window.count < requests;
      if (isAllowed) window.count++;
      return toStatus(window, now, isAllowed);
    },

    peek(id) {
      const now = clock.monotonicMs();
      const window = findWindow(id, now);
      if (!window) return { isAllowed: true, remaining: requests, resetSeconds: windowSeconds };
      return toStatus(window, now, window.count < requests);
    },

    giveBack(id, takenAt) {
      const window = findWindow(id, clock.monotonicMs());
      if (window && window.count > 0 && takenAt >= window.endsAt - windowMs) window.count--;
    },
  };
}

export function tooManyRequests({ resetSeconds }: Pick<RateLimitStatus, 'resetSeconds'>, text: string): AppError {
  return new AppError('too_many_requests', `${text}; try again in ${resetSeconds} s`, {
    retryAfterSeconds: resetSeconds,
  });
}
