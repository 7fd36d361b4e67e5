import { formatDecimal } from './decimal.ts';

/** Amounts are whole numbers of micro-CHC: sums are exact, and a JSON number with 6 decimals represents each of them. */
export const MICROS_PER_CHC = 1_000_000;
export const MICRO_DECIMALS = 6;

/** The limit for one metric of one entity and day. Sums of 9,000 such amounts stay below 2^53. */
export const MAX_METRIC_MICROS = 1_000_000_000_000;

/** Below this, the quotient has no more digits than a double represents exactly. */
const MAX_EXACT_QUOTIENT = 1e15;

export function chcFromMicros(micros: number): number {
  return micros / MICROS_PER_CHC;
}

/** Undefined when the amount has more than 6 decimals, is negative, not finite or larger than `maxMicros`. */
export function microsFromChc(chc: number, maxMicros: number = MAX_METRIC_MICROS): number | undefined {
  const micros = Math.round(chc * MICROS_PER_CHC);
  if (!(micros >= 0 && micros <= maxMicros) || micros / MICROS_PER_CHC !== chc) return undefined;
  return micros === 0 ? 0 : micros;
}

/** CHC as a plain decimal: no exponent, no trailing zeros. */
export const formatChc = (micros: number): string =>
  Math.abs(micros) < MAX_EXACT_QUOTIENT
    ? String(micros / MICROS_PER_CHC)
    : formatDecimal({ digits: BigInt(micros), scale: MICRO_DECIMALS });
