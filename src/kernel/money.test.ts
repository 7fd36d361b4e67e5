import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chcFromMicros, MAX_METRIC_MICROS, microsFromChc } from './money.ts';

/** Above this, doubles lie further apart than a micro-CHC. */
const LARGEST_EXACT_SUM = 2 ** 33 * 1_000_000;

/** Decimal text → micros without any floating point. */
function microsOfText(text: string): bigint {
  const [whole = '', decimals = ''] = text.split('.');
  return BigInt(whole) * 1_000_000n + BigInt(decimals.padEnd(6, '0'));
}

const metric = fc.oneof(
  fc.integer({ min: 0, max: 2000 }),
  fc.integer({ min: 0, max: MAX_METRIC_MICROS }),
  fc.constantFrom(0, 1, MAX_METRIC_MICROS - 1, MAX_METRIC_MICROS),
);

describe('U4: money', () => {
  it('comes back as the same micros', () => {
    fc.assert(
      fc.property(metric, (micros) => {
        expect(microsFromChc(chcFromMicros(micros))).toBe(micros);
      }),
    );
  });

  it('comes back through JSON as the same micros', () => {
    fc.assert(
      fc.property(metric, (micros) => {
        expect(microsFromChc(JSON.parse(JSON.stringify(chcFromMicros(micros))))).toBe(micros);
      }),
    );
  });

  it('is written with at most 6 decimals, no exponent, and names exactly its micros, also for sums', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          metric,
          fc.maxSafeInteger().filter((micros) => micros >= 0 && micros <= LARGEST_EXACT_SUM),
        ),
        (micros) => {
          const text = JSON.stringify(chcFromMicros(micros));
          expect(text).toMatch(/^\d+(\.\d{1,6})?$/);
          expect(microsOfText(text)).toBe(BigInt(micros));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('sums exactly', () => {
    fc.assert(
      fc.property(fc.array(metric, { maxLength: 500 }), (amounts) => {
        const sum = amounts.reduce((total, micros) => total + micros, 0);
        expect(BigInt(sum)).toBe(amounts.reduce((total, micros) => total + BigInt(micros), 0n));
        expect(microsOfText(String(chcFromMicros(sum)))).toBe(BigInt(sum));
      }),
    );
  });

  it('of a decimal text is what the text says', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 999_999 }), (whole, decimals) => {
        const text = `${whole}.${String(decimals).padStart(6, '0')}`;
        expect(microsFromChc(Number(text))).toBe(Number(microsOfText(text)));
      }),
    );
  });

  it('with a seventh decimal is refused', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 999_999 }),
        fc.integer({ min: 0, max: 999_999 }),
        fc.integer({ min: 1, max: 9 }),
        (whole, decimals, seventh) => {
          expect(microsFromChc(Number(`${whole}.${String(decimals).padStart(6, '0')}${seventh}`))).toBeUndefined();
        },
      ),
    );
  });

  it.each([
    -0.000001,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    1_000_000.000001,
    1e300,
    1e-7,
    Number.MIN_VALUE,
  ])('refuses %d', (chc) => {
    expect(microsFromChc(chc)).toBeUndefined();
  });

  it.each([
    [0, 0],
    [-0, 0],
    [0.3, 300_000],
    [12.345678, 12_345_678],
    [1_000_000, MAX_METRIC_MICROS],
  ])('%d is %d micros', (chc, micros) => {
    expect(microsFromChc(chc)).toBe(micros);
  });
});
