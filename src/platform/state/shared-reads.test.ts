import { describe, expect, it } from 'vitest';
import { createSharedReads } from './shared-reads.ts';

interface Started {
  text: string;
  reads: readonly (readonly unknown[])[];
  resolve(rows: unknown[]): void;
  reject(error: Error): void;
}

/** Statements that end when told to. */
function createReads() {
  const started: Started[] = [];
  const read = createSharedReads(
    (text, reads) => new Promise((resolve, reject) => void started.push({ text, reads, resolve, reject })),
  );
  return { read, started };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('shared reads', () => {
  it('reads of one turn of the event loop, and reads that wait, are one statement', async () => {
    const { read, started } = createReads();
    const first = [read('select', ['a']), read('select', ['b']), read('select', ['a'])];
    expect(started).toEqual([]);
    await settle();
    const second = read('select', ['a']);
    await settle();
    expect(started.map(({ reads }) => reads)).toEqual([[['a'], ['b']], [['a']]]);
    const later = [read('select', ['a']), read('select', ['c'])];
    await settle();
    later.push(read('select', ['a']));
    await settle();
    expect(started).toHaveLength(2);
    started[0]?.resolve([1, 2]);
    expect(await Promise.all(first)).toEqual([1, 2, 1]);
    expect(started.slice(2).map(({ reads }) => reads)).toEqual([[['a'], ['c']]]);
    const latest = read('select', ['a']);
    started[1]?.resolve([3]);
    started[2]?.resolve([4, undefined]);
    expect(await second).toBe(3);
    expect(await Promise.all(later)).toEqual([4, undefined, 4]);
    await settle();
    started[3]?.resolve([5]);
    expect(await latest).toBe(5);
  });

  it('other statements do not wait, and a statement has at most 64 rows', async () => {
    const { read, started } = createReads();
    const all = Array.from({ length: 140 }, (_, index) => read('select', [String(index)]));
    void read('other', ['a']);
    await settle();
    expect(started.map(({ text }) => text)).toEqual(['select', 'select', 'other']);
    for (let index = 0; index < started.length; index++) {
      const { reads, resolve } = started[index] as Started;
      resolve(reads.map(([value]) => value));
      await settle();
    }
    expect(started.map(({ reads }) => reads.length)).toEqual([64, 64, 1, 12]);
    expect(await Promise.all(all)).toEqual(Array.from({ length: 140 }, (_, index) => String(index)));
  });

  it('an error fails only the reads of its statement', async () => {
    const { read, started } = createReads();
    const failing = read('select', ['a']);
    await settle();
    const other = read('select', ['a']);
    await settle();
    const later = [read('select', ['a']), read('select', ['b'])];
    started[0]?.reject(new Error('lost'));
    await expect(failing).rejects.toThrow('lost');
    started[1]?.resolve([1]);
    started[2]?.resolve([2, 3]);
    expect(await Promise.all([other, ...later])).toEqual([1, 2, 3]);
  });
});
