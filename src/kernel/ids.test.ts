import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTimeOrderedIds, deriveUuid, isUuid, newUuid } from './ids.ts';

const uuidPattern = (version: number) =>
  new RegExp(`^[0-9a-f]{8}-[0-9a-f]{4}-${version}[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`);

describe('ids', () => {
  it('M1: a new id is a unique version 4 UUID', () => {
    const ids = Array.from({ length: 1000 }, newUuid);
    expect(ids.filter((id) => !uuidPattern(4).test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(1000);
  });

  it('M4: a UUID can have any letter case, but no surrounding characters', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.string({ minLength: 1 }), (id, more) => {
        expect([id, id.toUpperCase()].map(isUuid)).toEqual([true, true]);
        expect(
          [`${id}${more}`, `${more}${id}`, id.slice(1), id.replaceAll('-', ''), `{${id}}`, `${id}\n`].map(isUuid),
        ).not.toContain(true);
      }),
    );
  });

  it('F2: the same parts always produce the same id, other parts a different one', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(fc.string()), (one, other) => {
        expect(deriveUuid(...one)).toMatch(uuidPattern(5));
        expect(deriveUuid(...one) === deriveUuid(...other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });

  it('F2: the boundaries between parts matter', () => {
    expect(
      new Set([
        deriveUuid('a', 'bc'),
        deriveUuid('ab', 'c'),
        deriveUuid('abc'),
        deriveUuid('a","bc'),
        deriveUuid('abc', ''),
      ]).size,
    ).toBe(5);
  });

  it('F2: derived ids are stable across versions', () => {
    expect(deriveUuid('organization', 'Acme')).toBe('63c05267-9614-52b9-b9c7-19631a19ca02');
  });

  it('time-ordered ids sort in creation order, even when the clock jumps', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_050 }), { minLength: 2, maxLength: 200 }),
        (times) => {
          const next = createTimeOrderedIds();
          const ids = times.map((ms) => next(ms));
          expect([...ids].sort()).toEqual(ids);
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids.filter((id) => !uuidPattern(7).test(id))).toEqual([]);
        },
      ),
    );
  });

  it('time-ordered ids stay in order when the counter of a millisecond overflows', () => {
    const next = createTimeOrderedIds();
    const ids = Array.from({ length: 10_000 }, () => next(1_700_000_000_000));
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(10_000);
  });

  it('a time-ordered id starts with its time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 47 }), (ms) => {
        expect(Number.parseInt(createTimeOrderedIds()(ms).replace('-', '').slice(0, 12), 16)).toBe(ms);
      }),
    );
  });
});
