import type { Day } from '../kernel/days.ts';
import { memoize } from '../kernel/memo.ts';
import type { EntityType, Metric } from './cost.ts';
import { METERS } from './meter.ts';

/** CHC for one pricing unit of a meter. The most particular price that fits is the one that counts. */
export interface Price {
  meter: Metric;
  entityType?: EntityType;
  tier?: string;
  region?: string;
  /** Decimal text, never a float: `0.2985`. */
  price: string;
}

/** All prices from a day on, until the next version's. */
export interface PriceBook {
  version: number;
  effectiveFrom: Day;
  prices: readonly Price[];
}

/** Exactly, in micro-CHC, halves rounded up: `quantity` (in the meter's unit) × price. Both are decimal text. */
export function microsOf(meter: Metric, quantity: string, price: string): number {
  const [q, p] = [parseDecimal(quantity), parsedPrice(price)];
  const scale = 10n ** BigInt(q.decimals + p.decimals) * METERS[meter].unitsPerPricingUnit;
  const exact = q.digits * p.digits * 1_000_000n;
  const doubled = 2n * (exact < 0n ? -exact : exact) + scale;
  const rounded = doubled / (2n * scale);
  return Number(exact < 0n ? -rounded : rounded);
}

/** There are few prices, and each is used for many quantities. */
const parsedPrice = memoize(parseDecimal);

export interface Decimal {
  digits: bigint;
  decimals: number;
}

/** Of text that has been checked to be a decimal number. */
export function parseDecimal(text: string): Decimal {
  const [whole = '0', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), decimals: fraction.length };
}
