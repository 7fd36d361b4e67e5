import { describe, expect, it } from 'vitest';
import { createRing } from './ring.ts';

describe('ring', () => {
  const contents = (ring: ReturnType<typeof createRing<string>>, count: number) => {
    const items: [string, number, number][] = [];
    ring.take(count, (...entry) => items.push(entry));
    return items;
  };

  it('returns its items oldest first, with time and weight', () => {
    const ring = createRing<string>(3);
    expect([ring.push('a', 1, 1), ring.push('b', 2, 7)]).toEqual([false, false]);
    expect(contents(ring, 1)).toEqual([['a', 1, 1]]);
    expect(contents(ring, 5)).toEqual([['b', 2, 7]]);
    expect(ring.length).toBe(0);
  });

  it('overwrites the oldest item when it is full', () => {
    const ring = createRing<string>(2);
    const pushed = ['a', 'b', 'c', 'd', 'e'].map((item, at) => ring.push(item, at, 1));
    expect(pushed).toEqual([false, false, true, true, true]);
    expect(contents(ring, 9)).toEqual([
      ['d', 3, 1],
      ['e', 4, 1],
    ]);
  });
});
