import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createJsonMeter } from './json-meter.ts';

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
        expect(createJsonMeter({ maxValues: values - 1, maxDepth: MANY }).add(bytes)).toBe('maxValues');
        expect(createJsonMeter({ maxValues: 2 * values, maxDepth: MANY }).add(bytes)).toBeUndefined();
      }),
    );
  });

  it('is the same in pieces of any length', () => {
    fc.assert(
      fc.property(anyJson, fc.integer({ min: 1, max: 5 }), (value, length) => {
        const bytes = Buffer.from(JSON.stringify(value));
        const depth = measureDepth(value);
        for (const [maxDepth, expected] of [
          [depth, undefined],
          [depth - 1, 'maxDepth'],
        ] as const) {
          const meter = createJsonMeter({ maxValues: MANY, maxDepth });
          let exceeded: string | undefined;
          for (let at = 0; at < bytes.length; at += length) exceeded ??= meter.add(bytes.subarray(at, at + length));
          expect(exceeded).toBe(expected);
        }
      }),
    );
  });
});
