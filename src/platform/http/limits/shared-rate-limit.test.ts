import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RateCounter } from '../../../kernel/rate-counter.ts';
import { createLocalRateCounter } from './rate-counter.ts';
import { createRateLimiter } from './rate-limit.ts';
import type { RateLimitStatus } from './rate-window.ts';

const WINDOW_SECONDS = 10;

describe('rate limiters that share a counter', () => {
  let now: number;
  const clock = { monotonicMs: () => now };
  beforeEach(() => {
    now = 5000.25;
  });

  /** The counter, with the number of times that it was asked. */
  function createCounted(): RateCounter & { asked: number } {
    const counter = createLocalRateCounter(clock);
    const counted = {
      asked: 0,
      add(...addition: Parameters<RateCounter['add']>) {
        counted.asked++;
        return counter.add(...addition);
      },
    };
    return counted;
  }

  const createLimiter = (requests: number, counter: RateCounter) =>
    createRateLimiter({ requests, windowSeconds: WINDOW_SECONDS }, clock, counter);

  it('B7: together admit the limit, less at most 2 % each, in each window, in any order and with a slow counter', async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 4 }),
      fc.infiniteStream(fc.nat({ max: 1000 })),
      fc.scheduler(),
      async (requests, nodes, numbers, scheduler) => {
        const next = (limit: number): number => (numbers.next().value ?? 0) % limit;
        const counter = createLocalRateCounter(clock);
        const limiters = Array.from({ length: nodes }, () =>
          createLimiter(requests, {
            async add(...addition) {
              await scheduler.schedule(Promise.resolve(), 'sent');
              const counted = await counter.add(...addition);
              await scheduler.schedule(Promise.resolve(), 'received');
              return counted;
            },
          }),
        );
        for (const _window of [1, 2, 3]) {
          const startedAt = now;
          const statuses = [];
          for (let sent = 0; sent < requests + 20; sent++) {
            statuses.push(limiters[next(nodes)]?.take('key'));
            if (next(4) === 0 && scheduler.count() > 0) await scheduler.waitNext(1);
            if (next(4) === 0) now = Math.min(now + next(20), startedAt + 2000);
          }
          await scheduler.waitIdle();
          const allowed = (await Promise.all(statuses)).filter((status) => status?.isAllowed).length;
          const share = Math.max(1, Math.floor(requests / 50));
          expect(allowed).toBeLessThanOrEqual(requests);
          expect(allowed).toBeGreaterThanOrEqual(requests - nodes * share);
          now = startedAt + 2000 + WINDOW_SECONDS * 1000;
        }
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });

  it('B7: one alone has the same statuses as without a counter', async () => {
    for (const requests of [1, 5, 100, 151]) {
      const shared = createLimiter(requests, createLocalRateCounter(clock));
      const local = createRateLimiter({ requests, windowSeconds: WINDOW_SECONDS }, clock);
      for (let sent = 0; sent < 2 * requests + 3; sent++) {
        now += 7;
        expect(await shared.take('key'), `request ${sent} of ${requests}`).toEqual(local.take('key'));
        expect(shared.peek('key')).toEqual(local.peek('key'));
      }
      now += WINDOW_SECONDS * 1000;
      expect(await shared.take('key')).toEqual(local.take('key'));
      now += WINDOW_SECONDS * 1000;
    }
  });

  it('ask the counter some 60 times for a whole limit, and not again until the window ends', async () => {
    const counter = createCounted();
    const limiter = createLimiter(1000, counter);
    let waits = 0;
    for (let sent = 0; sent < 1000; sent++) {
      const status = limiter.take('key');
      if (status instanceof Promise) waits++;
      await status;
    }
    expect(waits).toBe(1);
    expect(counter.asked).toBeLessThan(70);
    const { asked } = counter;
    for (let sent = 0; sent < 100; sent++) expect(limiter.take('key')).toMatchObject({ isAllowed: false });
    expect(counter.asked).toBe(asked);
    now += WINDOW_SECONDS * 1000;
    expect(await limiter.take('key')).toMatchObject({ isAllowed: true });
  });

  it('requests that wait at the same time share one request to the counter', async () => {
    const counter = createCounted();
    const limiter = createLimiter(1000, counter);
    const statuses = await Promise.all(Array.from({ length: 1200 }, () => limiter.take('key')));
    expect(statuses.filter(({ isAllowed }) => isAllowed)).toHaveLength(1000);
    expect(counter.asked).toBe(2);
  });

  it('a counter that fails fails the requests that wait, and no others', async () => {
    const local = createLocalRateCounter(clock);
    let isLost = false;
    const limiter = createLimiter(100, {
      add: async (...addition) => {
        if (isLost) throw new Error('lost');
        return local.add(...addition);
      },
    });
    await limiter.take('key');
    isLost = true;
    expect(limiter.take('key')).toMatchObject({ isAllowed: true });
    await expect(limiter.take('key')).rejects.toThrow('lost');
    isLost = false;
    expect(await limiter.take('key')).toMatchObject({ isAllowed: true, remaining: 97 });
  });

  it.each([
    ['with a counter', true],
    ['without', false],
  ])('what is given back can be taken again, in the same window only, %s', async (_, isShared) => {
    const limit = { requests: 2, windowSeconds: WINDOW_SECONDS };
    const limiter = createRateLimiter(limit, clock, isShared ? createLocalRateCounter(clock) : undefined);
    const take = async (): Promise<RateLimitStatus> => limiter.take('key');
    for (const isAllowed of [true, true, false]) expect(await take()).toMatchObject({ isAllowed });
    const takenAt = now;
    limiter.giveBack('key', takenAt);
    for (const isAllowed of [true, false]) expect(await take()).toMatchObject({ isAllowed });
    now += WINDOW_SECONDS * 1000;
    expect(await take()).toMatchObject({ remaining: 1 });
    limiter.giveBack('key', takenAt);
    expect(limiter.peek('key')).toMatchObject({ remaining: 1 });
  });
});
