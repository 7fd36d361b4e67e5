import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../kernel/errors.ts';
import { type AttemptLimit, createAttemptLimit } from './attempt-limit.ts';
import { createLocalRateCounter } from './rate-counter.ts';

const ADDRESS = '203.0.113.7';
const HOUR_MS = 60 * 60 * 1000;

describe('B7: the limit for failed attempts', () => {
  let now: number;
  let attempts: AttemptLimit;
  let checks: number;
  beforeEach(() => {
    now = 5000;
    checks = 0;
    attempts = createAttemptLimit({ monotonicMs: () => now });
  });

  /** Sends a credential; only `right` is valid. Returns the outcome as a status. */
  async function send(credential: string, address = ADDRESS): Promise<number> {
    try {
      await attempts.run(address, credential, () => {
        checks++;
        if (credential !== 'right') throw new AppError('unauthorized', 'no');
      });
      return 200;
    } catch (error) {
      return (error as AppError).code === 'unauthorized' ? 401 : 429;
    }
  }

  const guess = async (count: number, address = ADDRESS) => {
    for (let i = 0; i < count; i++) await send(`wrong ${i}`, address);
  };

  it('past it, a right and a wrong credential are rejected alike, without being checked', async () => {
    await guess(299);
    expect(await send('the last one')).toBe(401);
    expect(checks).toBe(300);
    expect(await send('wrong')).toBe(429);
    expect(await send('right')).toBe(429);
    expect(checks).toBe(300);
    expect(await send('right', '203.0.113.8')).toBe(200);
  });

  it('the window ends 60 seconds after the first failure, whatever happens in between', async () => {
    await guess(300);
    now += 59_999;
    expect(await send('right')).toBe(429);
    now += 1;
    expect(await send('right')).toBe(200);
  });

  it('a credential that was accepted from the address keeps working for an hour after its last use', async () => {
    expect(await send('right')).toBe(200);
    await guess(400);
    expect(await send('right')).toBe(200);
    expect(await send('right', '203.0.113.8')).toBe(200);
    now += HOUR_MS - 1;
    await guess(400);
    expect(await send('right')).toBe(200);
    now += HOUR_MS;
    await guess(400);
    expect(await send('right')).toBe(429);
  });

  it('a credential is known only at the address that it was accepted from', async () => {
    expect(await send('right', '198.51.100.1')).toBe(200);
    await guess(300);
    expect(await send('right')).toBe(429);
    expect(await send('right', '198.51.100.1')).toBe(200);
  });

  it('an issued credential is known', async () => {
    attempts.accept(ADDRESS, 'right');
    await guess(300);
    expect(await send('right')).toBe(200);
  });

  it('an IPv6 /64 is one address', async () => {
    await guess(300, '2001:db8:1:2::1');
    expect(await send('right', '2001:db8:1:2:ffff::9')).toBe(429);
    expect(await send('right', '2001:db8:1:3::1')).toBe(200);
  });

  it('valid credentials do not count', async () => {
    for (let i = 0; i < 1000; i++) expect(await send('right')).toBe(200);
    expect(await send('wrong')).toBe(401);
  });

  it('an error of the store does not count', async () => {
    for (let i = 0; i < 400; i++)
      await expect(
        attempts.run(ADDRESS, `credential ${i}`, () => {
          throw new AppError('unavailable', 'no database');
        }),
      ).rejects.toThrow('no database');
    expect(await send('wrong')).toBe(401);
  });

  it('guesses that are sent at the same time count before their outcome is known', async () => {
    const outcomes: (() => void)[] = [];
    const check = () =>
      new Promise<void>((_, reject) => {
        outcomes.push(() => reject(new AppError('unauthorized', 'no')));
      });
    const running = Array.from({ length: 300 }, (_, i) =>
      attempts.run(ADDRESS, `guess ${i}`, check).catch((error: AppError) => error.code),
    );
    await expect(attempts.run(ADDRESS, 'one more', check)).rejects.toThrow('Too many failed attempts');
    expect(outcomes).toHaveLength(300);
    for (const fail of outcomes) fail();
    expect(new Set(await Promise.all(running))).toEqual(new Set(['unauthorized']));
    expect(await send('right')).toBe(429);
    now += 60_000;
    expect(await send('right')).toBe(200);
  });

  it('many connections that start with the same valid credential are all accepted', async () => {
    const outcomes: (() => void)[] = [];
    const check = () => new Promise<void>((resolve) => outcomes.push(resolve));
    const running = Array.from({ length: 1000 }, () => attempts.run(ADDRESS, 'right', check));
    await setImmediate();
    expect(outcomes).toHaveLength(1000);
    for (const succeed of outcomes) succeed();
    await Promise.all(running);
    await guess(300);
    expect(await send('right')).toBe(200);
  });
});

describe('B7: the limit for failed attempts of processes that share a counter', () => {
  let checks: number;
  let nodes: AttemptLimit[];
  beforeEach(() => {
    checks = 0;
    const clock = { monotonicMs: () => 5000 };
    const counter = createLocalRateCounter(clock);
    nodes = [1, 2, 3].map(() => createAttemptLimit(clock, counter));
  });

  /** Sends a credential; those that start with `right` are valid. Returns the outcome as a status. */
  async function send(credential: string, index = 0): Promise<number> {
    try {
      await nodes[index % 3]?.run(ADDRESS, credential, async () => {
        checks++;
        if (!credential.startsWith('right')) throw new AppError('unauthorized', 'no');
      });
      return 200;
    } catch (error) {
      return (error as AppError).code === 'unauthorized' ? 401 : 429;
    }
  }

  it('is one limit, also for guesses that are sent at the same time', async () => {
    expect(await send('right known')).toBe(200);
    const statuses = await Promise.all(Array.from({ length: 900 }, (_, index) => send(`wrong ${index}`, index)));
    const failed = statuses.filter((status) => status === 401).length;
    expect(failed).toBeGreaterThanOrEqual(282);
    expect(failed).toBeLessThanOrEqual(300);
    // What is left of the shares.
    for (let index = 0; index < 60; index++) await send(`wrong again ${index}`, index);
    checks = 0;
    for (const index of [0, 1, 2]) expect(await send('right', index)).toBe(429);
    expect(checks).toBe(0);
    expect(await send('right known')).toBe(200);
  });

  it('valid credentials do not count, also different ones and those that are sent at the same time', async () => {
    for (let index = 0; index < 400; index++) expect(await send(`right ${index}`)).toBe(200);
    const statuses = await Promise.all(Array.from({ length: 200 }, () => send('right 400', 1)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await send('wrong')).toBe(401);
  });

  it('each failure counts once if the same wrong credential is sent many times at the same time', async () => {
    const statuses = [];
    for (let sent = 0; sent < 10; sent++)
      statuses.push(...(await Promise.all(Array.from({ length: 30 }, () => send('wrong')))));
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(await send('wrong')).toBe(429);
  });

  it('a counter that fails is not a failed attempt', async () => {
    const lost = createAttemptLimit(
      { monotonicMs: () => 5000 },
      { add: () => Promise.reject(new AppError('unavailable', 'lost')) },
    );
    const run = () => lost.run(ADDRESS, 'right', () => void checks++);
    for (const _ of [1, 2]) await expect(run()).rejects.toThrow('lost');
    expect(checks).toBe(0);
  });
});
