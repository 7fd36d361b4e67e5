import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { microsIn, productInMicros } from '../../../test/support/focus.ts';
import { METRICS } from '../cost.ts';
import { METERS } from '../meter.ts';
import { microsOf } from '../price.ts';
import { chcText, inLargerUnit, pricedQuantity } from './quantity.ts';

const price = fc
  .tuple(fc.integer({ min: 0, max: 2000 }), fc.integer({ min: 0, max: 999_999 }))
  .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(6, '0')}`);
const quantity = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 17n }), fc.integer({ min: 0, max: 999_999 }), fc.boolean())
  .map(([whole, fraction, isWhole]) => (isWhole ? `${whole}` : `${whole}.${String(fraction).padStart(6, '0')}`));

describe('the quantity of a charge', () => {
  it('times the price is the cost to the micro-credit, for every meter, quantity and price', () => {
    fc.assert(
      fc.property(fc.constantFrom(...METRICS), quantity, price, (meter, amount, unitPrice) => {
        const micros = microsOf(meter, amount, unitPrice);
        fc.pre(Number.isSafeInteger(micros));
        const priced = pricedQuantity(meter, amount, unitPrice, micros);
        expect(productInMicros(priced ?? '', unitPrice)).toBe(BigInt(micros));
      }),
      { numRuns: 2000 },
    );
  });

  it('is also found where the cost is the difference of two roundings, and for a reversal', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...METRICS),
        quantity,
        price,
        fc.integer({ min: -1, max: 1 }),
        (meter, amount, unitPrice, off) => {
          const micros = microsOf(meter, amount, unitPrice) + off;
          fc.pre(Number.isSafeInteger(micros) && Number(unitPrice) > 0);
          expect(productInMicros(pricedQuantity(meter, `-${amount}`, unitPrice, -micros) ?? '', unitPrice)).toBe(
            BigInt(-micros),
          );
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('is the metered one wherever that can be written', () => {
    expect(pricedQuantity('compute', '90', '0.2985', microsOf('compute', '90', '0.2985'))).toBe('1.5');
    expect(pricedQuantity('compute', '100', '0.2985', microsOf('compute', '100', '0.2985'))).toBe('1.666666666667');
    expect(pricedQuantity('publicDataTransfer', '1234567891', '0.1152', 142_222)).toBe('1.234567891');
    expect(METERS.storage.unitsPerPricingUnit).toBe(732n * 10n ** 12n);
    expect(pricedQuantity('storage', '366000000000000', '25.30', 12_650_000)).toBe('0.5');
  });

  it('is nothing that a cost without a price could have', () => {
    expect(pricedQuantity('compute', '60', '0', 5)).toBeUndefined();
    expect(pricedQuantity('compute', '60', '0', 0)).toBe('1');
  });

  it('is written plainly, in larger units too', () => {
    expect([1, 1_000_000, 1_500_000, -250_000, 0, 9_007_199_254_740_991].map(chcText)).toEqual([
      '0.000001',
      '1',
      '1.5',
      '-0.25',
      '0',
      '9007199254.740991',
    ]);
    expect(inLargerUnit('1234567891', 9)).toBe('1.234567891');
    expect(inLargerUnit('5', 9)).toBe('0.000000005');
    expect(inLargerUnit('0.5', 9)).toBe('0.0000000005');
    expect(inLargerUnit('-1000000000', 9)).toBe('-1');
    expect(microsIn('0.000001')).toBe(1n);
  });
});
