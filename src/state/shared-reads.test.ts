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
  it('reads that wait become one statement, which starts after all of them were asked for', async () => {
    const { read, started } = createReads();
    const first = [read('select', ['a']), read('select', ['b'])];
    const later = [read('select', ['a']), read('select', ['c']), read('select', ['a'])];
    expect(started.map(({ reads }) => reads)).toEqual([[['a']], [['b']]]);
    started[0]?.resolve([1]);
    await settle();
    expect(started.slice(2).map(({ reads }) => reads)).toEqual([[['a'], ['c']]]);
    const latest = read('select', ['a']);
    started[1]?.resolve([2]);
    started[2]?.resolve([3, undefined]);
    expect(await Promise.all(first)).toEqual([1, 2]);
    expect(await Promise.all(later)).toEqual([3, undefined, 3]);
    await settle();
    started[3]?.resolve([4]);
    expect(await latest).toBe(4);
  });

  it('other statements do not wait, and a statement has at most 64 rows', async () => {
    const { read, started } = createReads();
    const all = Array.from({ length: 70 }, (_, index) => read('select', [String(index)]));
    void read('other', ['a']);
    expect(started.map(({ text }) => text)).toEqual(['select', 'select', 'other']);
    for (let index = 0; index < started.length; index++) {
      const { reads, resolve } = started[index] as Started;
      resolve(reads.map(([value]) => value));
      await settle();
    }
    expect(started.map(({ reads }) => reads.length)).toEqual([1, 1, 1, 64, 4]);
    expect(await Promise.all(all)).toEqual(Array.from({ length: 70 }, (_, index) => String(index)));
  });

  it('an error fails only the reads of its statement', async () => {
    const { read, started } = createReads();
    const [failing, other] = [read('select', ['a']), read('select', ['a'])];
    const later = [read('select', ['a']), read('select', ['b'])];
    started[0]?.reject(new Error('lost'));
    await expect(failing).rejects.toThrow('lost');
    await settle();
    started[1]?.resolve([1]);
    started[2]?.resolve([2, 3]);
    expect(await Promise.all([other, ...later])).toEqual([1, 2, 3]);
  });
});
