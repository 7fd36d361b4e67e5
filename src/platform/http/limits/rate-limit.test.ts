import { beforeEach, describe, expect, it } from 'vitest';
import { createRateLimiter } from './rate-limit.ts';

const NOON = Date.parse('2026-11-15T12:00:00Z');

describe('the rate limiter', () => {
  let now: number;
  const clock = { monotonicMs: () => now };
  beforeEach(() => {
    now = NOON;
  });

  it('B7: admits as many requests as the limit, then none until the window ends', () => {
    const window = createRateLimiter({ requests: 3, windowSeconds: 10 }, clock);
    const results = [1, 2, 3, 4, 5].map(() => window.take('key'));
    expect(results.map(({ isAllowed }) => isAllowed)).toEqual([true, true, true, false, false]);
    expect(results.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0, 0]);
    now = NOON + 9_999;
    expect(window.take('key').isAllowed).toBe(false);
    now = NOON + 10_000;
    expect(window.take('key')).toEqual({ isAllowed: true, remaining: 2, resetSeconds: 10 });
  });

  it.each([
    [0, 10],
    [1, 10],
    [999, 10],
    [1_000, 9],
    [9_000, 1],
    [9_001, 1],
    [9_999, 1],
    [10_000, 10],
  ])(
    'B7: %i ms into a window of 10 s, the reset is %i whole seconds away, never 0 and never a timestamp',
    (elapsed, seconds) => {
      const window = createRateLimiter({ requests: 1, windowSeconds: 10 }, clock);
      window.take('key');
      now = NOON + elapsed;
      expect(window.take('key').resetSeconds).toBe(seconds);
    },
  );

  it('B7: the window starts with the first request, not with the clock', () => {
    const window = createRateLimiter({ requests: 1, windowSeconds: 10 }, clock);
    now = NOON + 7_000;
    expect(window.take('key')).toEqual({ isAllowed: true, remaining: 0, resetSeconds: 10 });
    now = NOON + 12_000;
    expect(window.take('key')).toEqual({ isAllowed: false, remaining: 0, resetSeconds: 5 });
  });

  it('B7: each id has its own window', () => {
    const window = createRateLimiter({ requests: 1, windowSeconds: 10 }, clock);
    for (const id of ['a', 'b', '__proto__', 'constructor', '']) {
      expect(window.take(id).isAllowed).toBe(true);
      expect(window.take(id).isAllowed).toBe(false);
    }
  });

  it('B7: many ids do not evict an id whose window has not ended', () => {
    const window = createRateLimiter({ requests: 1, windowSeconds: 10 }, clock);
    for (let index = 0; index < 40_000; index++) window.take(`early ${index}`);
    now = NOON + 5_000;
    window.take('late');
    now = NOON + 10_000;
    for (let index = 0; index < 20_000; index++) window.take(`next ${index}`);
    expect(window.take('late').isAllowed).toBe(false);
  });

  it('B7: the reset is never further away than the window is long, whatever the fractions of the clock', () => {
    const window = createRateLimiter({ requests: 1, windowSeconds: 60 }, clock);
    for (let start = 0.1; start < 1e6; start += 9971.23) {
      now = start;
      const id = `at ${start}`;
      expect([window.take(id).resetSeconds, window.peek(id).resetSeconds], id).toEqual([60, 60]);
    }
  });

  it('B7: peek shows the status without counting', () => {
    const window = createRateLimiter({ requests: 2, windowSeconds: 10 }, clock);
    for (const _ of [1, 2, 3]) expect(window.peek('key')).toEqual({ isAllowed: true, remaining: 2, resetSeconds: 10 });
    window.take('key');
    now = NOON + 4_000;
    for (const _ of [1, 2]) expect(window.peek('key')).toEqual({ isAllowed: true, remaining: 1, resetSeconds: 6 });
    window.take('key');
    expect(window.peek('key')).toEqual({ isAllowed: false, remaining: 0, resetSeconds: 6 });
    now = NOON + 10_000;
    expect(window.peek('key')).toEqual({ isAllowed: true, remaining: 2, resetSeconds: 10 });
  });

  it('forgets the ids that were used least recently, so that its memory is bounded', () => {
    const window = createRateLimiter({ requests: 1, windowSeconds: 10 }, clock);
    window.take('first');
    for (let index = 0; index < 50_000; index++) window.take(`id ${index}`);
    expect(window.take('first').isAllowed).toBe(true);
    expect(window.take('id 49999').isAllowed).toBe(false);
  });
});
