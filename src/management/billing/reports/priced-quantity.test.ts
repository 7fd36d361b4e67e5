import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { multiplyToMicros } from '../../../../test/support/focus.ts';
import { METERS, METRICS } from '../meter.ts';
import { calculateCostMicros } from '../prices/cost-micros.ts';
import { findPricedQuantity } from './priced-quantity.ts';

const price = fc
  .tuple(fc.integer({ min: 0, max: 2000 }), fc.integer({ min: 0, max: 999_999 }))
  .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(6, '0')}`);
const quantity = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 17n }), fc.integer({ min: 0, max: 999_999 }), fc.boolean())
  .map(([whole, fraction, isWhole]) => (isWhole ? `${whole}` : `${whole}.${String(fraction).padStart(6, '0')}`));

describe('the priced quantity of a charge', () => {
  it('multiplied by the price is exactly the cost, for every meter, quantity and price', () => {
    fc.assert(
      fc.property(fc.constantFrom(...METRICS), quantity, price, (meter, amount, unitPrice) => {
        const micros = calculateCostMicros(meter, amount, unitPrice);
        fc.pre(Number.isSafeInteger(micros));
        const priced = findPricedQuantity(meter, amount, unitPrice, micros);
        expect(multiplyToMicros(priced ?? '', unitPrice)).toBe(BigInt(micros));
      }),
      { numRuns: 2000 },
    );
  });

  it('exists for costs that are the difference of two roundings, and for negative amounts', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...METRICS),
        quantity,
        price,
        fc.integer({ min: -1, max: 1 }),
        (meter, amount, unitPrice, off) => {
          const micros = calculateCostMicros(meter, amount, unitPrice) + off;
          fc.pre(Number.isSafeInteger(micros) && Number(unitPrice) > 0);
          expect(multiplyToMicros(findPricedQuantity(meter, `-${amount}`, unitPrice, -micros) ?? '', unitPrice)).toBe(
            BigInt(-micros),
          );
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('is the metered quantity wherever 12 decimals can represent it', () => {
    expect(findPricedQuantity('compute', '90', '0.2985', calculateCostMicros('compute', '90', '0.2985'))).toBe('1.5');
    expect(findPricedQuantity('compute', '100', '0.2985', calculateCostMicros('compute', '100', '0.2985'))).toBe(
      '1.666666666667',
    );
    expect(findPricedQuantity('publicDataTransfer', '1234567891', '0.1152', 142_222)).toBe('1.234567891');
    expect(METERS.storage.unitsPerPricingUnit).toBe(732n * 10n ** 12n);
    expect(findPricedQuantity('storage', '366000000000000', '25.30', 12_650_000)).toBe('0.5');
  });

  it('does not exist for a cost without a price', () => {
    expect(findPricedQuantity('compute', '60', '0', 5)).toBeUndefined();
    expect(findPricedQuantity('compute', '60', '0', 0)).toBe('1');
  });
});
