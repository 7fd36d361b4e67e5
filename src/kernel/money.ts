/** Money is a whole number of micro-CHC inside: sums are exact, and a JSON number with 6 decimals holds it. */
export const MICROS_PER_CHC = 1_000_000;

/** One metric of one entity and day. Sums are exact up to 2^53 micro-CHC, 9,000 such amounts. */
export const MAX_METRIC_MICROS = 1_000_000_000_000;

export function chcFromMicros(micros: number): number {
  return micros / MICROS_PER_CHC;
}

/** Exact, or undefined: more than 6 decimals, negative, not finite, or too large for one metric of one day. */
export function microsFromChc(chc: number): number | undefined {
  const micros = Math.round(chc * MICROS_PER_CHC);
  if (!(micros >= 0 && micros <= MAX_METRIC_MICROS) || micros / MICROS_PER_CHC !== chc) return undefined;
  return micros === 0 ? 0 : micros;
}
