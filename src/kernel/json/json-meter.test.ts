import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findExceededLimit } from './json-meter.ts';

const MANY = Number.POSITIVE_INFINITY;

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, member) => sum + countValues(member), 1);
}

const measureDepth = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(measureDepth)) : 0;

const anyJson = fc.jsonValue({ maxDepth: 6, stringUnit: fc.constantFrom('"', '\\', ',', '[', '{', 'é', 'a') });

describe('the size of a JSON text', () => {
  it('is never counted too low, and at most twice too high', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const bytes = Buffer.from(JSON.stringify(value));
        const values = countValues(value);
        expect(findExceededLimit(bytes, { maxValues: values - 1, maxDepth: MANY })).toBe('maxValues');
        expect(findExceededLimit(bytes, { maxValues: 2 * values, maxDepth: MANY })).toBeUndefined();
      }),
    );
  });

  it('has the exact depth', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const bytes = Buffer.from(JSON.stringify(value));
        const maxDepth = measureDepth(value);
        expect(findExceededLimit(bytes, { maxValues: MANY, maxDepth })).toBeUndefined();
        expect(findExceededLimit(bytes, { maxValues: MANY, maxDepth: maxDepth - 1 })).toBe('maxDepth');
      }),
    );
  });
});
