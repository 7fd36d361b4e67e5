import {
  type Decimal,
  divideRounded,
  formatDecimal,
  parseDecimal,
  powerOfTen,
} from '../../../kernel/numbers/decimal.ts';
import { MICRO_DECIMALS } from '../../../kernel/numbers/money.ts';
import { METERS, type MeterName } from '../meter.ts';
import { parsePrice } from '../prices/cost-micros.ts';

const MAX_DECIMALS = 12;
const NEIGHBORS = [0n, 1n, -1n];

/**
 * The quantity in pricing units, with at most 12 decimals, for which `quantity × price`, rounded to micro-CHC, is
 * exactly the booked cost. Usually the metered quantity. If its product rounds to another amount (an adjustment is a
 * difference of rounded costs, and decimals beyond the 12th are lost), it is the nearest quantity that fits. Undefined
 * for a cost at a price of 0.
 */
export function findPricedQuantity(
  meter: MeterName,
  quantity: string,
  unitPrice: string,
  micros: number,
): string | undefined {
  const q = parseDecimal(quantity);
  const price = parsePrice(unitPrice);
  const metered = divideRounded(
    q.digits * powerOfTen(MAX_DECIMALS),
    METERS[meter].unitsPerPricingUnit * powerOfTen(q.scale),
  );
  const offset = NEIGHBORS.find((candidate) => multiplyToMicros(metered + candidate, price) === BigInt(micros));
  if (offset !== undefined) return formatDecimal({ digits: metered + offset, scale: MAX_DECIMALS });
  if (price.digits === 0n) return undefined;
  const exact = BigInt(micros) * powerOfTen(MAX_DECIMALS + price.scale - MICRO_DECIMALS);
  return formatDecimal({ digits: divideRounded(exact, price.digits), scale: MAX_DECIMALS });
}

const multiplyToMicros = (quantityDigits: bigint, price: Decimal): bigint =>
  divideRounded(quantityDigits * price.digits, powerOfTen(MAX_DECIMALS + price.scale - MICRO_DECIMALS));
