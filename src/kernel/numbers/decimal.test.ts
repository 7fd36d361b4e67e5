import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decimalPattern,
  divideByPowerOfTen,
  divideRounded,
  formatDecimal,
  normalizeDecimal,
  parseDecimal,
  subtractDecimals,
  sumDecimals,
} from './decimal.ts';

const digits = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
const scale = fc.integer({ min: 0, max: 12 });
const decimal = fc.tuple(digits, scale).map(([number, decimals]) => formatDecimal({ digits: number, scale: decimals }));

describe('decimals', () => {
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['1.50', '1.5'],
    ['10.100000', '10.1'],
    ['-0.250', '-0.25'],
    ['0.000001', '0.000001'],
    ['007', '7'],
    ['12345678901234567890.123456', '12345678901234567890.123456'],
  ])('normalizes %s to %s', (text, normalized) => {
    expect(normalizeDecimal(text)).toBe(normalized);
  });

  it('formats and parses without loss', () => {
    fc.assert(
      fc.property(digits, scale, (number, decimals) => {
        const parsed = parseDecimal(formatDecimal({ digits: number, scale: decimals }));
        expect(parsed.digits * 10n ** BigInt(decimals)).toBe(number * 10n ** BigInt(parsed.scale));
      }),
    );
  });

  it('adds and subtracts exactly, with any number of decimals', () => {
    expect(sumDecimals([])).toBe('0');
    expect(sumDecimals(['0.1', '0.2'])).toBe('0.3');
    expect(sumDecimals(['1.5', '-0.25', '100000000000000000000'])).toBe('100000000000000000001.25');
    fc.assert(
      fc.property(fc.array(decimal, { maxLength: 10 }), decimal, (terms, last) => {
        expect(subtractDecimals(sumDecimals([...terms, last]), last)).toBe(sumDecimals(terms));
      }),
    );
  });

  it('divides by powers of ten', () => {
    expect(divideByPowerOfTen('1234567891', 9)).toBe('1.234567891');
    expect(divideByPowerOfTen('5', 9)).toBe('0.000000005');
    expect(divideByPowerOfTen('0.5', 9)).toBe('0.0000000005');
    expect(divideByPowerOfTen('-1000000000', 9)).toBe('-1');
  });

  it('rounds halves away from zero', () => {
    expect([5n, -5n, 4n, -4n, 15n, -15n, 0n].map((dividend) => divideRounded(dividend, 10n))).toEqual([
      1n,
      -1n,
      0n,
      0n,
      2n,
      -2n,
      0n,
    ]);
  });

  it('limits the number of digits and decimals', () => {
    const pattern = decimalPattern({ maxWholeDigits: 3, maxDecimals: 2 });
    expect(['0', '999', '1.25', '000'].every((text) => pattern.test(text))).toBe(true);
    for (const text of ['', '1000', '1.255', '-1', '+1', '1.', '.5', '1e2', ' 1', '1\n', '0x1'])
      expect(pattern.test(text), text).toBe(false);
  });
});
