/**
 * Exact decimal arithmetic for quantities and prices, which outgrow both doubles and 64-bit integers. Numbers are
 * decimal strings (`0.2985`, `-12`) everywhere else; only this module converts them to integers and back.
 */
export interface Decimal {
  /** The number without its decimal point, sign included. */
  digits: bigint;
  /** How many of the digits are decimals: the value is `digits / 10^scale`. */
  scale: number;
}

const POWERS = Array.from({ length: 64 }, (_, exponent) => 10n ** BigInt(exponent));

export const powerOfTen = (exponent: number): bigint => POWERS[exponent] ?? 10n ** BigInt(exponent);

/** Matches a decimal number of at least 0, without sign or exponent. */
export const decimalPattern = (limits: { maxWholeDigits: number; maxDecimals: number }): RegExp =>
  new RegExp(`^\\d{1,${limits.maxWholeDigits}}(?:\\.\\d{1,${limits.maxDecimals}})?$`);

/** The string must be a decimal number without exponent; the caller validates it. */
export function parseDecimal(text: string): Decimal {
  const [whole = '0', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), scale: fraction.length };
}

/** No exponent, no trailing zeros, no `-0`: `1.5`, `12`, `-0.25`. */
export function formatDecimal({ digits, scale }: Decimal): string {
  const size = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
  const whole = size.slice(0, size.length - scale);
  const fraction = size.slice(size.length - scale).replace(/0+$/, '');
  return `${digits < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

export const normalizeDecimal = (text: string): string => formatDecimal(parseDecimal(text));

export function sumDecimals(texts: readonly string[]): string {
  const terms = texts.map(parseDecimal);
  const scale = terms.reduce((largest, term) => Math.max(largest, term.scale), 0);
  const digits = terms.reduce((sum, term) => sum + term.digits * powerOfTen(scale - term.scale), 0n);
  return formatDecimal({ digits, scale });
}

export function subtractDecimals(minuend: string, subtrahend: string): string {
  const [a, b] = [parseDecimal(minuend), parseDecimal(subtrahend)];
  const scale = Math.max(a.scale, b.scale);
  return formatDecimal({
    digits: a.digits * powerOfTen(scale - a.scale) - b.digits * powerOfTen(scale - b.scale),
    scale,
  });
}

/** The same amount in a unit that is `10^exponent` times as large. */
export function divideByPowerOfTen(text: string, exponent: number): string {
  const { digits, scale } = parseDecimal(text);
  return formatDecimal({ digits, scale: scale + exponent });
}

/** Integer division that rounds halves away from zero. The divisor must be positive. */
export function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const size = dividend < 0n ? -dividend : dividend;
  const rounded = (2n * size + divisor) / (2n * divisor);
  return dividend < 0n ? -rounded : rounded;
}
