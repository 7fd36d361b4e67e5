/** Quantities are decimals with at most 6 places; inside they are whole millionths, of any size, so sums are exact. */
const PLACES = 6;

export function millionths(text: string): bigint {
  const isNegative = text.startsWith('-');
  const [whole = '0', fraction = ''] = (isNegative ? text.slice(1) : text).split('.');
  const value = BigInt(whole + fraction.slice(0, PLACES).padEnd(PLACES, '0'));
  return isNegative ? -value : value;
}

/** Without needless zeros: `1.5`, `12`, `-0.25`. */
export function quantityOf(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(PLACES + 1, '0');
  const whole = digits.slice(0, -PLACES);
  const fraction = digits.slice(-PLACES).replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
