import { LRUCache } from 'lru-cache';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';

export interface RateLimit {
  requests: number;
  windowSeconds: number;
}

export interface RateLimitStatus {
  isAllowed: boolean;
  remaining: number;
  /** Whole seconds until the window ends, at least 1. Not a timestamp. */
  resetSeconds: number;
}

interface Window {
  endsAt: number;
  count: number;
}

/** Beyond this number, the windows that were used least recently are forgotten. */
const MAX_WINDOWS = 50_000;

/** Counts requests in a fixed window per id, in this process. The window starts with the first request. */
export function createRateLimiter({ requests, windowSeconds }: RateLimit, clock: Pick<Clock, 'monotonicMs'>) {
  const windows = new LRUCache<string, Window>({ max: MAX_WINDOWS });

  /** At least 1, and never more than the window: a clock with fractions can round the rest up. */
  const toResetSeconds = (restMs: number): number => Math.min(windowSeconds, Math.max(1, Math.ceil(restMs / 1000)));

  function findWindow(id: string, now: number): Window | undefined {
    const window = windows.get(id);
    return window && window.endsAt > now ? window : undefined;
  }

  return {
    /** Counts a request. */
    take(id: string): RateLimitStatus {
      const now = clock.monotonicMs();
      let window = findWindow(id, now);
      if (!window) {
        window = { endsAt: now + windowSeconds * 1000, count: 0 };
        windows.set(id, window);
      }
      window.count++;
      return {
        isAllowed: window.count <= requests,
        remaining: Math.max(0, requests - window.count),
        resetSeconds: toResetSeconds(window.endsAt - now),
      };
    },

    /** The status of the next request, without counting it. */
    peek(id: string): RateLimitStatus {
      const now = clock.monotonicMs();
      const window = findWindow(id, now);
      if (!window) return { isAllowed: true, remaining: requests, resetSeconds: windowSeconds };
      return {
        isAllowed: window.count < requests,
        remaining: Math.max(0, requests - window.count),
        resetSeconds: toResetSeconds(window.endsAt - now),
      };
    },
  };
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;

export function tooManyRequests({ resetSeconds }: Pick<RateLimitStatus, 'resetSeconds'>, text: string): AppError {
  return new AppError('too_many_requests', `${text}; try again in ${resetSeconds} s`, {
    retryAfterSeconds: resetSeconds,
  });
}
