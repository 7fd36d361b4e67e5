import type { Clock } from '../../kernel/time/clock.ts';

/**
 * Decides when the leases of other processes have expired: by the clock of the store, or after they did not change for
 * their whole duration by the monotonic clock, which no step of the store's clock affects.
 */
export function createExpiry(clock: Clock, expireMs: number) {
  /** When this process first saw each lease as it is now. */
  const seen = new Map<string, { version: string; sinceMs: number }>();
  return {
    /** `now` and `renewedAt` are times of the store's clock. */
    isExpired(name: string, { holder, renewedAt }: { holder: string; renewedAt: number }, now: number): boolean {
      const version = `${holder} ${renewedAt}`;
      let first = seen.get(name);
      if (first?.version !== version) {
        first = { version, sinceMs: clock.monotonicMs() };
        seen.set(name, first);
      }
      return now - renewedAt >= expireMs || clock.monotonicMs() - first.sinceMs >= expireMs;
    },

    /** The lease is not held. */
    forget: (name: string): void => void seen.delete(name),
  };
}
