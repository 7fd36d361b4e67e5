import { memoize } from '../../kernel/memo.ts';
import { MICROS_PER_CHC } from '../../kernel/money.ts';
import type { Metric } from '../cost.ts';
import { METERS } from '../meter.ts';
import { type Decimal, parseDecimal } from '../price.ts';

const DECIMALS = 12;
const SCALE = 10n ** BigInt(DECIMALS);
const MICRO_DECIMALS = 6;

const POWERS = Array.from({ length: 64 }, (_, exponent) => 10n ** BigInt(exponent));
const powerOfTen = (exponent: number): bigint => POWERS[exponent] ?? 10n ** BigInt(exponent);

const priceOf = memoize(parseDecimal);

const NEIGHBOURS = [0n, 1n, -1n];

/** Up to here a quotient has no more digits than a double holds. */
const EXACT_QUOTIENTS = 1e15;

/** Plain decimals: no exponent, no sign in front of a positive number. */
export const chcText = (micros: number): string =>
  Math.abs(micros) < EXACT_QUOTIENTS ? String(micros / MICROS_PER_CHC) : decimalText(BigInt(micros), MICRO_DECIMALS);

/**
 * The quantity in pricing units, with 12 decimals at most, for which `quantity × price`, rounded to micro-CHC, is
 * exactly what was booked. That is the metered quantity wherever its own product rounds to the cost; otherwise (a
 * difference of two roundings, a sixtieth cut off right at a half) the nearest that does. Undefined: a cost without a price.
 */
export function pricedQuantity(meter: Metric, quantity: string, price: string, micros: number): string | undefined {
  const q = parseDecimal(quantity);
  const p = priceOf(price);
  const metered = dividedBy(q.digits * SCALE, METERS[meter].unitsPerPricingUnit * powerOfTen(q.decimals));
  const fitting = NEIGHBOURS.find((off) => roundsTo(metered + off, p, micros));
  if (fitting !== undefined) return decimalText(metered + fitting, DECIMALS);
  if (p.digits === 0n) return undefined;
  const exact = BigInt(micros) * powerOfTen(DECIMALS + p.decimals - MICRO_DECIMALS);
  return decimalText(dividedBy(exact, p.digits), DECIMALS);
}

const roundsTo = (quantity: bigint, { digits, decimals }: Decimal, micros: number): boolean =>
  dividedBy(quantity * digits, powerOfTen(DECIMALS + decimals - MICRO_DECIMALS)) === BigInt(micros);

/** Halves away from zero. */
function dividedBy(dividend: bigint, divisor: bigint): bigint {
  const size = dividend < 0n ? -dividend : dividend;
  const rounded = (2n * size + divisor) / (2n * divisor);
  return dividend < 0n ? -rounded : rounded;
}

/** The same amount in a unit that is `10^places` times as large. */
export function inLargerUnit(quantity: string, places: number): string {
  const { digits, decimals } = parseDecimal(quantity);
  return decimalText(digits, decimals + places);
}

function decimalText(digits: bigint, decimals: number): string {
  const size = (digits < 0n ? -digits : digits).toString().padStart(decimals + 1, '0');
  const whole = size.slice(0, size.length - decimals);
  const fraction = size.slice(size.length - decimals).replace(/0+$/, '');
  return `${digits < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
