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

/** Counts requests in a fixed window per id. The window starts with the first request. */
export interface RateLimiter<Taken = RateLimitStatus | Promise<RateLimitStatus>> {
  /** Counts a request, unless it is past the limit. */
  take(id: string): Taken;
  /** The status of the next request, as far as this process knows, without counting it. */
  peek(id: string): RateLimitStatus;
  /** Undoes a `take` that was allowed at the given monotonic time. */
  giveBack(id: string, takenAt: number): void;
}

/** Beyond this number, the windows that were used least recently are forgotten. */
export const MAX_WINDOWS = 50_000;

/** At least 1, and never more than the window: a clock with fractions can round the rest up. */
export const toResetSeconds = (restMs: number, windowSeconds: number): number =>
  Math.min(windowSeconds, Math.max(1, Math.ceil(restMs / 1000)));
