import { createLargeCache } from '../../../kernel/memo.ts';
import type { RateCounter } from '../../../kernel/rate-counter.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { MAX_WINDOWS, type RateLimit, type RateLimiter, type RateLimitStatus, toResetSeconds } from './rate-window.ts';

/** A process takes this part of a limit at a time. What it does not use is lost until the window ends. */
const SHARES = 50;

interface Window {
  /** By the clock of this process; never later than the counter's window ends. */
  endsAt: number;
  /** The count of all processes, when the counter was last asked. */
  taken: number;
  /** What this process has taken and not used. */
  unused: number;
  /** Whether the counter is being asked. */
  isAsking: boolean;
  /** Requests that wait for the counter, oldest first. */
  waiting: Waiting[];
}

interface Waiting {
  resolve(status: RateLimitStatus): void;
  reject(error: unknown): void;
}

/**
 * Keeps a limit together with other processes. Takes shares of the limit from the counter and uses them without asking
 * again, so the limit is never exceeded, and each process leaves at most one share unused.
 */
export function createSharedRateLimiter(
  { requests, windowSeconds }: RateLimit,
  clock: Pick<Clock, 'monotonicMs'>,
  counter: RateCounter,
): RateLimiter {
  const windowMs = windowSeconds * 1000;
  const share = Math.max(1, Math.floor(requests / SHARES));
  const windows = createLargeCache<string, Window>(MAX_WINDOWS);

  function getWindow(id: string): Window {
    let window = windows.get(id);
    if (!window) {
      window = { endsAt: Number.NEGATIVE_INFINITY, taken: 0, unused: 0, isAsking: false, waiting: [] };
      windows.set(id, window);
    }
    return window;
  }

  const toStatus = ({ taken, unused, endsAt }: Window, isAllowed: boolean): RateLimitStatus => ({
    isAllowed,
    remaining: Math.max(0, requests - taken) + unused,
    resetSeconds: toResetSeconds(endsAt - clock.monotonicMs(), windowSeconds),
  });

  function useOne(window: Window): RateLimitStatus {
    window.unused--;
    return toStatus(window, true);
  }

  /** In advance, so that the next requests need not wait. */
  const isRefillDue = ({ unused, taken, isAsking }: Window): boolean =>
    share > 1 && unused < share / 4 && taken < requests && !isAsking;

  /** Asks for as many shares as the waiting requests need, or for what is missing from one. */
  async function ask(id: string, window: Window): Promise<void> {
    const { waiting } = window;
    const askedAt = clock.monotonicMs();
    const unused = window.endsAt > askedAt ? window.unused : 0;
    const count = waiting.length > 0 ? Math.ceil(waiting.length / share) * share : share - unused;
    window.isAsking = true;
    try {
      receive(window, count, askedAt, await counter.add(id, count, windowSeconds));
    } catch (error) {
      // Without waiting requests, this was a refill in advance: the next request that finds nothing left asks again.
      for (const { reject } of waiting.splice(0)) reject(error);
    }
    window.isAsking = false;
    if (waiting.length > 0) void ask(id, window);
  }

  function receive(
    window: Window,
    count: number,
    askedAt: number,
    { taken, restMs }: { taken: number; restMs: number },
  ): void {
    // The counter's window ends later than this by the time that the request to it took.
    const endsAt = askedAt + restMs;
    const isSame = window.endsAt > askedAt && taken >= window.taken + count && endsAt < window.endsAt + windowMs / 2;
    const granted = Math.min(count, Math.max(0, requests - (taken - count)));
    window.endsAt = isSame ? Math.max(window.endsAt, endsAt) : endsAt;
    window.unused = (isSame ? window.unused : 0) + granted;
    window.taken = taken;
    const { waiting } = window;
    for (const { resolve } of waiting.splice(0, window.unused)) resolve(useOne(window));
    if (taken >= requests) for (const { resolve } of waiting.splice(0)) resolve(toStatus(window, false));
  }

  return {
    take(id) {
      const window = getWindow(id);
      const isOpen = window.endsAt > clock.monotonicMs();
      if (isOpen && window.waiting.length === 0) {
        if (window.unused > 0) {
          const status = useOne(window);
          if (isRefillDue(window)) void ask(id, window);
          return status;
        }
        if (window.taken >= requests) return toStatus(window, false);
      }
      return new Promise((resolve, reject) => {
        window.waiting.push({ resolve, reject });
        if (!window.isAsking) void ask(id, window);
      });
    },

    peek(id) {
      const window = windows.get(id);
      if (!window || window.endsAt <= clock.monotonicMs())
        return { isAllowed: true, remaining: requests, resetSeconds: windowSeconds };
      return toStatus(window, window.unused > 0 || window.taken < requests);
    },

    giveBack(id, takenAt) {
      const window = windows.get(id);
      if (window && window.endsAt > clock.monotonicMs() && takenAt >= window.endsAt - windowMs) window.unused++;
    },
  };
}
