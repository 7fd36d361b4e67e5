import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chcFromMicros, formatChc, MAX_METRIC_MICROS, microsFromChc } from './money.ts';

/** Above this, neighboring doubles differ by more than a micro-CHC. */
const LARGEST_EXACT_SUM = 2 ** 33 * 1_000_000;

/** Converts a decimal string without floating point. */
function parseMicros(text: string): bigint {
  const [whole = '', decimals = ''] = text.split('.');
  return BigInt(whole) * 1_000_000n + BigInt(decimals.padEnd(6, '0'));
}

const metric = fc.oneof(
  fc.integer({ min: 0, max: 2000 }),
  fc.integer({ min: 0, max: MAX_METRIC_MICROS }),
  fc.constantFrom(0, 1, MAX_METRIC_MICROS - 1, MAX_METRIC_MICROS),
);

describe('U4: amounts of money', () => {
  it('survive the conversion to CHC and back', () => {
    fc.assert(
      fc.property(metric, (micros) => {
        expect(microsFromChc(chcFromMicros(micros))).toBe(micros);
      }),
    );
  });

  it('survive a JSON round trip', () => {
    fc.assert(
      fc.property(metric, (micros) => {
        expect(microsFromChc(JSON.parse(JSON.stringify(chcFromMicros(micros))))).toBe(micros);
      }),
    );
  });

  it('are written exactly, with at most 6 decimals and no exponent, sums included', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          metric,
          fc.maxSafeInteger().filter((micros) => micros >= 0 && micros <= LARGEST_EXACT_SUM),
        ),
        (micros) => {
          const text = JSON.stringify(chcFromMicros(micros));
          expect(text).toMatch(/^\d+(\.\d{1,6})?$/);
          expect(parseMicros(text)).toBe(BigInt(micros));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('add up exactly', () => {
    fc.assert(
      fc.property(fc.array(metric, { maxLength: 500 }), (amounts) => {
        const sum = amounts.reduce((total, micros) => total + micros, 0);
        expect(BigInt(sum)).toBe(amounts.reduce((total, micros) => total + BigInt(micros), 0n));
        expect(parseMicros(String(chcFromMicros(sum)))).toBe(BigInt(sum));
      }),
    );
  });

  it('are parsed exactly from decimal strings', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 999_999 }), (whole, decimals) => {
        const text = `${whole}.${String(decimals).padStart(6, '0')}`;
        expect(microsFromChc(Number(text))).toBe(Number(parseMicros(text)));
      }),
    );
  });

  it('are rejected when they have a seventh decimal', () => {
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
  ])('reject %d', (chc) => {
    expect(microsFromChc(chc)).toBeUndefined();
  });

  it.each([
    [0, 0],
    [-0, 0],
    [0.3, 300_000],
    [12.345678, 12_345_678],
    [1_000_000, MAX_METRIC_MICROS],
  ])('convert %d CHC to %d micros', (chc, micros) => {
    expect(microsFromChc(chc)).toBe(micros);
  });

  it('can exceed the limit of a single daily metric', () => {
    expect(microsFromChc(2_000_000)).toBeUndefined();
    expect(microsFromChc(2_000_000, 2 * MAX_METRIC_MICROS)).toBe(2 * MAX_METRIC_MICROS);
  });

  it('are formatted as plain decimals up to the largest safe integer', () => {
    expect([1, 1_000_000, 1_500_000, -250_000, 0, 9_007_199_254_740_991].map(formatChc)).toEqual([
      '0.000001',
      '1',
      '1.5',
      '-0.25',
      '0',
      '9007199254.740991',
    ]);
  });
});
