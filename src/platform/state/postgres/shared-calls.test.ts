import { describe, expect, it } from 'vitest';
import { createSharedCalls } from './shared-calls.ts';

interface Started {
  key: string;
  calls: readonly string[];
  resolve(results: unknown[]): void;
  reject(error: Error): void;
}

/** Calls that end when told to. */
function createCalls(maxRunning = 2) {
  const started: Started[] = [];
  const call = createSharedCalls(
    (key: string, calls: readonly string[]) =>
      new Promise<unknown[]>((resolve, reject) => void started.push({ key, calls, resolve, reject })),
    maxRunning,
  );
  return { call, started };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('shared calls', () => {
  it('calls of one turn of the event loop, and calls that wait, are one', async () => {
    const { call, started } = createCalls();
    const first = [call('key', 'a'), call('key', 'b')];
    expect(started).toEqual([]);
    await settle();
    const second = call('key', 'a');
    await settle();
    expect(started.map(({ calls }) => calls)).toEqual([['a', 'b'], ['a']]);
    const later = [call('key', 'a'), call('key', 'c')];
    await settle();
    later.push(call('key', 'd'));
    await settle();
    expect(started).toHaveLength(2);
    started[0]?.resolve([1, 2]);
    expect(await Promise.all(first)).toEqual([1, 2]);
    expect(started.slice(2).map(({ calls }) => calls)).toEqual([['a', 'c', 'd']]);
    const latest = call('key', 'a');
    started[1]?.resolve([3]);
    started[2]?.resolve([4, undefined, 6]);
    expect(await second).toBe(3);
    expect(await Promise.all(later)).toEqual([4, undefined, 6]);
    await settle();
    started[3]?.resolve([5]);
    expect(await latest).toBe(5);
  });

  it('calls with another key do not wait, and at most 64 are combined', async () => {
    const { call, started } = createCalls();
    const all = Array.from({ length: 140 }, (_, index) => call('key', String(index)));
    void call('other', 'a');
    await settle();
    expect(started.map(({ key }) => key)).toEqual(['key', 'key', 'other']);
    for (let index = 0; index < started.length; index++) {
      const { calls, resolve } = started[index] as Started;
      resolve([...calls]);
      await settle();
    }
    expect(started.map(({ calls }) => calls.length)).toEqual([64, 64, 1, 12]);
    expect(await Promise.all(all)).toEqual(Array.from({ length: 140 }, (_, index) => String(index)));
  });

  it('an error fails only the calls that were combined', async () => {
    const { call, started } = createCalls(1);
    const failing = [call('key', 'a'), call('key', 'b')];
    await settle();
    const later = [call('key', 'a'), call('key', 'b')];
    started[0]?.reject(new Error('lost'));
    for (const failed of failing) await expect(failed).rejects.toThrow('lost');
    started[1]?.resolve([2, 3]);
    expect(await Promise.all(later)).toEqual([2, 3]);
  });
});
