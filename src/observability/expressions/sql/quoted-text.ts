import { ExpressionError } from '../expression-error.ts';

const ESCAPES: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\u0007',
  e: '\u001b',
  N: '',
};
/** A backslash before these is dropped; before any other character it is kept, as `LIKE` patterns require. */
const UNESCAPED = new Set(['\\', "'", '"', '`', '/', '=']);

/** Reads a quoted string like ClickHouse: a doubled quote is one quote, and a backslash escapes. */
export function readQuoted(text: string, start: number): { value: string; end: number } {
  const quote = text.charAt(start);
  const parts: string[] = [];
  let from = start + 1;
  for (let at = from; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === quote) {
      parts.push(text.slice(from, at));
      if (text.charAt(at + 1) !== quote) return { value: parts.join(''), end: at + 1 };
      parts.push(quote);
      at += 1;
      from = at + 1;
    } else if (character === '\\') {
      parts.push(text.slice(from, at));
      const { value, length } = readEscape(text, at);
      parts.push(value);
      at += length - 1;
      from = at + 1;
    }
  }
  throw new ExpressionError(`The closing ${quote} is missing`, start);
}

function readEscape(text: string, at: number): { value: string; length: number } {
  const character = text.charAt(at + 1);
  if (character === 'x') return readByte(text, at);
  if (character === '0') throw new ExpressionError('NUL characters are not allowed', at);
  const value = ESCAPES[character];
  if (value !== undefined) return { value, length: 2 };
  if (UNESCAPED.has(character)) return { value: character, length: 2 };
  return { value: '\\', length: 1 };
}

function readByte(text: string, at: number): { value: string; length: number } {
  const digits = text.slice(at + 2, at + 4);
  const byte = /^[0-9A-Fa-f]{2}$/.test(digits) ? Number.parseInt(digits, 16) : 0;
  if (byte === 0 || byte > 0x7f)
    throw new ExpressionError('A \\x escape has two hexadecimal digits, from 01 to 7F', at);
  return { value: String.fromCharCode(byte), length: 4 };
}
