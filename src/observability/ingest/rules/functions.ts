import type { Evaluate, MapEntries, Value } from './value.ts';

export const isText = (value: unknown): value is string => typeof value === 'string';

/** Text of a condition as strings of rows are read: a character for each byte of UTF-8. */
export const toBytes = (text: string): string => Buffer.from(text).toString('latin1');

const isAscii = (bytes: string): boolean => !/[\x80-\xff]/.test(bytes);

/** Of all letters. */
export const lowerCase = (bytes: string): string =>
  isAscii(bytes) ? bytes.toLowerCase() : toBytes(Buffer.from(bytes, 'latin1').toString().toLowerCase());

const lowerAscii = (bytes: string): string => bytes.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
const upperAscii = (bytes: string): string => bytes.replace(/[a-z]+/g, (letters) => letters.toUpperCase());

/** A function of values. NULL if one of them is NULL. */
const strict =
  (apply: (...values: never[]) => Value) =>
  (operands: readonly Evaluate[]): Evaluate =>
  (item) => {
    const values = operands.map((operand) => operand(item));
    return values.includes(null) ? null : apply(...(values as never[]));
  };

const isTokenByte = (code: number): boolean =>
  code >= 0x80 || (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);

/** Whether the token occurs with no letter, digit or byte of another character next to it. */
function hasToken(text: string, token: string): boolean {
  for (let at = text.indexOf(token); at >= 0; at = text.indexOf(token, at + 1)) {
    const end = at + token.length;
    const isFree = (index: number) => index < 0 || index >= text.length || !isTokenByte(text.charCodeAt(index));
    if (isFree(at - 1) && isFree(end)) return true;
  }
  return false;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const SPECIAL = /^([+-]?)(?:(inf|infinity)|nan)$/i;

function parseFloatOrNull(text: string): number | null {
  if (NUMBER.test(text)) return Number(text);
  const [matched, sign, infinite] = SPECIAL.exec(text) ?? [];
  if (matched === undefined) return null;
  return infinite === undefined ? Number.NaN : sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** The functions that conditions may use; Lucene writes most of them. As the engine names them. */
export const FUNCTIONS: Readonly<Record<string, (operands: readonly Evaluate[]) => Evaluate>> = {
  lower: strict((text: string) => lowerAscii(text)),
  upper: strict((text: string) => upperAscii(text)),
  lowerUTF8: strict((text: string) => lowerCase(text)),
  length: strict((value: string | readonly unknown[]) => value.length),
  empty: strict((value: string | readonly unknown[]) => value.length === 0),
  notEmpty: strict((value: string | readonly unknown[]) => value.length > 0),
  startsWith: strict((text: string, start: string) => text.startsWith(start)),
  endsWith: strict((text: string, end: string) => text.endsWith(end)),
  hasToken: strict(hasToken),
  toString: strict((value: Value) => String(value)),
  toFloat64OrNull: strict(parseFloatOrNull),
  mapContains: strict((entries: MapEntries, key: string) => entries.some(([found]) => found === key)),
  mapKeys: strict((entries: MapEntries) => entries.map(([key]) => key)),
  mapValues: strict((entries: MapEntries) => entries.map(([, value]) => value)),
  has: strict((items: readonly string[], item: string) => items.includes(item)),
  isNull:
    ([operand]) =>
    (item) =>
      operand?.(item) === null,
  isNotNull:
    ([operand]) =>
    (item) =>
      operand?.(item) !== null,
  coalesce: (operands) => (item) => {
    for (const operand of operands) {
      const value = operand(item);
      if (value !== null) return value;
    }
    return null;
  },
};
