import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../kernel/errors.ts';
import { createSupervisor, type SupervisedProcess } from './supervisor.ts';

const silent = { info() {}, warn() {} };

function setUp(start?: () => Promise<void>) {
  let now = 1_000_000;
  const ends: ((how: string) => void)[] = [];
  const observed: (boolean | 'restart')[] = [];
  const supervisor = createSupervisor<SupervisedProcess & { number: number }>({
    clock: { now: () => now, monotonicMs: () => now },
    log: silent,
    observer: {
      query() {},
      running: (isRunning) => observed.push(isRunning),
      restarted: () => observed.push('restart'),
    },
    async start() {
      await start?.();
      const ended = new Promise<string>((resolve) => ends.push(resolve));
      return { number: ends.length, ended, close: async () => ends.at(-1)?.('closed') };
    },
  });
  const crash = async () => {
    ends.at(-1)?.('signal SIGKILL');
    await setImmediate();
  };
  return { supervisor, crash, observed, starts: () => ends.length, pass: (ms: number) => (now += ms) };
}

const getError = (promise: Promise<unknown>): Promise<AppError> =>
  promise.then(
    () => expect.fail('unexpected success'),
    (error) => error,
  );

describe('the supervisor', () => {
  it('starts nothing until the first use, then one process for all callers', async () => {
    const { supervisor, starts } = setUp();
    expect(supervisor.isRunning()).toBe(false);
    expect(starts()).toBe(0);
    const all = await Promise.all([supervisor.get(), supervisor.get(), supervisor.get()]);
    expect(all.map(({ number }) => number)).toEqual([1, 1, 1]);
    expect(supervisor.isRunning()).toBe(true);
  });

  it('restarts immediately after the first crash, then after increasing delays', async () => {
    const { supervisor, crash, pass } = setUp();
    await supervisor.get();
    await crash();
    expect((await supervisor.get()).number).toBe(2);
    const pauses: (number | undefined)[] = [];
    for (let round = 0; round < 7; round++) {
      await crash();
      const { code, retryAfterSeconds = 0 } = await getError(supervisor.get());
      expect(code).toBe('unavailable');
      pauses.push(retryAfterSeconds);
      pass(retryAfterSeconds * 1000);
      await supervisor.get();
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30]);
    await supervisor.close();
  });

  it('resets the pause once a process has run for a minute', async () => {
    const { supervisor, crash, pass } = setUp();
    await supervisor.get();
    await crash();
    await supervisor.get();
    pass(60_000);
    await crash();
    expect((await supervisor.get()).number).toBe(3);
    await supervisor.close();
  });

  it('reports why a start failed and does not retry before the pause is over', async () => {
    let attempts = 0;
    const { supervisor, pass } = setUp(async () => {
      attempts++;
      throw new AppError('unavailable', 'no engine here');
    });
    expect((await getError(supervisor.get())).message).toBe('no engine here');
    expect((await getError(supervisor.get())).message).toBe('no engine here');
    expect((await getError(supervisor.get())).message).toBe('no engine here');
    expect(attempts).toBe(2);
    pass(1000);
    await getError(supervisor.get());
    expect(attempts).toBe(3);
  });

  it('notifies its observer', async () => {
    const { supervisor, crash, observed } = setUp();
    await supervisor.get();
    await crash();
    await supervisor.get();
    await supervisor.close();
    await setImmediate();
    expect(observed).toEqual([true, false, 'restart', true, false]);
  });

  it('stops its process when closed and starts no other', async () => {
    const { supervisor, starts } = setUp();
    const child = await supervisor.get();
    await supervisor.close();
    expect(await child.ended).toBe('closed');
    expect((await getError(supervisor.get())).code).toBe('unavailable');
    expect(starts()).toBe(1);
  });
});
