import { describe, expect, it } from 'vitest';
import { createSharedReads } from './shared-reads.ts';

/** Reads that end when told to. */
function createReads() {
  const share = createSharedReads<number>();
  const started: { resolve(value: number): void; reject(error: Error): void }[] = [];
  const read = (key: string) =>
    share(key, () => new Promise<number>((resolve, reject) => void started.push({ resolve, reject })));
  return { read, started };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('shared reads', () => {
  it('a call during a read gets the next one, which all calls during it share', async () => {
    const { read, started } = createReads();
    const first = read('a');
    const later = [read('a'), read('a'), read('a')];
    expect(started).toHaveLength(1);
    started[0]?.resolve(1);
    expect(await first).toBe(1);
    await settle();
    expect(started).toHaveLength(2);
    const latest = read('a');
    started[1]?.resolve(2);
    expect(await Promise.all(later)).toEqual([2, 2, 2]);
    await settle();
    started[2]?.resolve(3);
    expect(await latest).toBe(3);
  });

  it('other keys do not wait, and a key that is not read is forgotten', async () => {
    const { read, started } = createReads();
    const reads = [read('a'), read('b')];
    expect(started).toHaveLength(2);
    for (const [index, one] of started.entries()) one.resolve(index);
    expect(await Promise.all(reads)).toEqual([0, 1]);
    await settle();
    void read('a');
    expect(started).toHaveLength(3);
  });

  it('an error fails only the callers of its read', async () => {
    const { read, started } = createReads();
    const failing = read('a');
    const later = read('a');
    started[0]?.reject(new Error('lost'));
    await expect(failing).rejects.toThrow('lost');
    await settle();
    started[1]?.resolve(2);
    expect(await later).toBe(2);
  });
});
