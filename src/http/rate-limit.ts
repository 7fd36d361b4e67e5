import type { Clock } from '../kernel/clock.ts';

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

const MAX_WINDOWS = 50_000;

/** Counts requests in a fixed window per id, in this process. The window starts with the first request. */
export function createRateLimiter(limit: RateLimit, clock: Clock) {
  const windows = new Map<string, Window>();

  function getWindow(id: string, now: number): Window {
    let window = windows.get(id);
    if (!window || window.endsAt <= now) {
      if (windows.size >= MAX_WINDOWS) evict(now);
      window = { endsAt: now + limit.windowSeconds * 1000, count: 0 };
      windows.set(id, window);
    }
    return window;
  }

  /** Evicts the windows that have ended, and all windows if that is not enough, to bound the memory. */
  function evict(now: number): void {
    for (const [id, window] of windows) if (window.endsAt <= now) windows.delete(id);
    if (windows.size >= MAX_WINDOWS) windows.clear();
  }

  return {
    take(id: string): RateLimitStatus {
      const now = clock.monotonicMs();
      const window = getWindow(id, now);
      window.count++;
      return {
        isAllowed: window.count <= limit.requests,
        remaining: Math.max(0, limit.requests - window.count),
        resetSeconds: Math.max(1, Math.ceil((window.endsAt - now) / 1000)),
      };
    },
  };
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;
