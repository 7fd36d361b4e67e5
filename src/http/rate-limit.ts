import type { Clock } from '../kernel/clock.ts';

export interface RateLimit {
  requests: number;
  windowSeconds: number;
}

export interface RateLimitStatus {
  isAllowed: boolean;
  remaining: number;
  /** Until the window ends: whole seconds from now, at least 1, never an epoch. */
  resetSeconds: number;
}

interface Window {
  endsAt: number;
  count: number;
}

const MAX_WINDOWS = 50_000;

/** A fixed window per caller, counted in this process. */
export function createRateLimiter(rate: RateLimit, clock: Clock) {
  const windows = new Map<string, Window>();

  function getWindow(id: string, now: number): Window {
    let window = windows.get(id);
    // A clock that was set back must not make a window longer.
    if (!window || window.endsAt <= now || window.endsAt > now + rate.windowSeconds * 1000) {
      if (windows.size >= MAX_WINDOWS) evict(now);
      window = { endsAt: now + rate.windowSeconds * 1000, count: 0 };
      windows.set(id, window);
    }
    return window;
  }

  /** Those whose window is over; when that is not enough, everybody: a flood of addresses must not cost us the memory. */
  function evict(now: number): void {
    for (const [id, window] of windows) if (window.endsAt <= now) windows.delete(id);
    if (windows.size >= MAX_WINDOWS) windows.clear();
  }

  return {
    take(id: string): RateLimitStatus {
      const now = clock.now();
      const window = getWindow(id, now);
      window.count++;
      return {
        isAllowed: window.count <= rate.requests,
        remaining: Math.max(0, rate.requests - window.count),
        resetSeconds: Math.max(1, Math.ceil((window.endsAt - now) / 1000)),
      };
    },
  };
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;
