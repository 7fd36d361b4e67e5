import { beforeEach, describe, expect, it } from 'vitest';
import type { RateCounter } from '../../../kernel/rate-counter.ts';
import { createLocalRateCounter } from '../../../platform/http/limits/rate-counter.ts';
import { createQuotas, type Quota } from './quota.ts';

const LIMIT = 1000;
const rows: Quota = { organizationId: 'acme', signal: 'logs', unit: 'rows', limit: LIMIT };

describe('the quotas of an organization', () => {
  let now: number;
  let asked: number;
  let counter: RateCounter;
  const clock = { monotonicMs: () => now };
  beforeEach(() => {
    now = 5000;
    asked = 0;
    const local = createLocalRateCounter(clock);
    counter = {
      add(...addition) {
        asked++;
        return local.add(...addition);
      },
    };
  });

  /** Takes an amount until the limit is reached. Returns the sum. */
  async function exhaust(nodes: readonly ReturnType<typeof createQuotas>[], amount: number, quota = rows) {
    let sum = 0;
    for (let index = 0; ; index++) {
      const node = nodes[index % nodes.length];
      const isTaken = await node?.take(quota, amount).then(
        () => true,
        () => false,
      );
      if (!isTaken) return sum;
      sum += amount;
    }
  }

  it.each([1, 7, 100, 400])(
    'of one process: %i at a time, up to the request that reaches the limit',
    async (amount) => {
      expect(await exhaust([createQuotas({ counter, clock })], amount)).toBe(Math.ceil(LIMIT / amount) * amount);
    },
  );

  it.each([1, 7, 100, 400])('of three processes: %i at a time, at most one request each beyond it', async (amount) => {
    const nodes = [1, 2, 3].map(() => createQuotas({ counter, clock }));
    const sum = await exhaust(nodes, amount);
    expect(sum).toBeGreaterThanOrEqual(LIMIT - 3 * (LIMIT / 50) - 3 * amount);
    expect(sum).toBeLessThanOrEqual(LIMIT + 3 * amount);
  });

  it('a process asks the counter for shares, not for each request', async () => {
    await exhaust([createQuotas({ counter, clock })], 1);
    expect(asked).toBeLessThanOrEqual(75);
  });

  it('a larger request than the limit is accepted once per minute', async () => {
    const node = createQuotas({ counter, clock });
    expect(await exhaust([node], 5 * LIMIT)).toBe(5 * LIMIT);
    await expect(node.require(rows)).rejects.toMatchObject({ code: 'too_many_requests', retryAfterSeconds: 60 });
    now += 59_999;
    await expect(node.require(rows)).rejects.toThrow('The organization may send 1000 rows of logs per minute');
    now += 1;
    expect(await exhaust([node], 5 * LIMIT)).toBe(5 * LIMIT);
  });

  it('are separate for each organization, signal and unit, and without a limit nothing is asked', async () => {
    const node = createQuotas({ counter, clock });
    await exhaust([node], LIMIT);
    const others: Quota[] = [
      { ...rows, organizationId: 'globex' },
      { ...rows, signal: 'traces' },
      { ...rows, unit: 'bytes' },
    ];
    for (const quota of others) await node.require(quota);
    const before = asked;
    await node.take({ ...rows, limit: undefined }, 1e9);
    expect(asked).toBe(before);
  });

  it('many requests at the same time pass it by one at most', async () => {
    const node = createQuotas({ counter, clock });
    const taken = await Promise.all(
      Array.from({ length: 300 }, () =>
        node.take(rows, 10).then(
          () => 10,
          () => 0,
        ),
      ),
    );
    expect(taken.reduce<number>((sum, amount) => sum + amount, 0)).toBe(LIMIT);
  });

  it('a counter that cannot be reached fails the request, and the next one asks again', async () => {
    let isDown = true;
    const local = createLocalRateCounter(clock);
    const flaky: RateCounter = {
      add: (...addition) => (isDown ? Promise.reject(new Error('no database')) : local.add(...addition)),
    };
    const node = createQuotas({ counter: flaky, clock });
    await expect(node.take(rows, 1)).rejects.toThrow('no database');
    isDown = false;
    await node.take(rows, 1);
  });
});
