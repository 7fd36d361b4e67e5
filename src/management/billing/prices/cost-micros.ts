import { memoize } from '../../../kernel/memo.ts';
import { divideRounded, parseDecimal, powerOfTen } from '../../../kernel/numbers/decimal.ts';
import { MICROS_PER_CHC } from '../../../kernel/numbers/money.ts';
import { METERS, type MeterName } from '../meter.ts';

/** Cached: there are few prices, each used for many quantities. */
export const parsePrice = memoize(parseDecimal);

/** Quantity (in the unit of the meter) × unit price, rounded once to micro-CHC, halves away from zero. */
export function calculateCostMicros(meter: MeterName, quantity: string, unitPrice: string): number {
  const [q, p] = [parseDecimal(quantity), parsePrice(unitPrice)];
  const divisor = powerOfTen(q.scale + p.scale) * METERS[meter].unitsPerPricingUnit;
  return Number(divideRounded(q.digits * p.digits * BigInt(MICROS_PER_CHC), divisor));
}
