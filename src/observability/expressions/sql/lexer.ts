import { codePointName, isDigit, isLetter, isNamePart, isSpace } from '../characters.ts';
import { ExpressionError } from '../expression-error.ts';
import { readQuoted } from './quoted-text.ts';

export type Token =
  | { type: 'word'; text: string; start: number }
  /** Back-quoted, double-quoted or dotted: never a keyword and never a function. */
  | { type: 'path'; text: string; start: number }
  | { type: 'string'; value: string; start: number }
  | { type: 'number'; value: number | bigint; start: number }
  | { type: 'symbol'; text: string; start: number }
  | { type: 'end'; start: number };

const SYMBOLS = ['==', '!=', '<>', '<=', '>=', '||', '(', ')', '[', ']', ',', '+', '-', '*', '/', '%', '=', '<', '>'];

/** Checked before the symbols, because they start with one. */
const REJECTED: readonly [string, string][] = [
  ['--', 'Comments are not allowed'],
  ['/*', 'Comments are not allowed'],
  ['#', 'Comments are not allowed'],
  ['->', 'Lambdas are not allowed'],
  ['::', 'Casts with :: are not allowed; use a function such as toFloat64OrNull'],
  ['@@', 'Variables are not allowed'],
  ['{', 'Parameters are not allowed; write the value'],
  [';', 'Only one expression is allowed'],
];

/** Reads tokens on demand, so that errors are reported from left to right. */
export function createLexer(text: string): () => Token {
  let at = 0;

  return function next(): Token {
    while (at < text.length && isSpace(text.charAt(at))) at += 1;
    const start = at;
    const character = text.charAt(at);
    if (character === '') return { type: 'end', start };
    if (character === "'") {
      const { value, end } = readQuoted(text, at);
      at = end;
      return { type: 'string', value, start };
    }
    if (isDigit(character) || (character === '.' && isDigit(text.charAt(at + 1)))) return number(start);
    if (isLetter(character) || isNameQuote(character)) return name(start);
    return symbol(start);
  };

  function symbol(start: number): Token {
    for (const [rejected, reason] of REJECTED) if (text.startsWith(rejected, at)) throw new ExpressionError(reason, at);
    const found = SYMBOLS.find((known) => text.startsWith(known, at));
    if (found === undefined) throw unexpectedCharacter(text, at);
    at += found.length;
    return { type: 'symbol', text: found, start };
  }

  function name(start: number): Token {
    const parts: string[] = [];
    let isPlain = true;
    for (;;) {
      if (isNameQuote(text.charAt(at))) isPlain = false;
      parts.push(namePart());
      const following = text.charAt(at + 1);
      if (text.charAt(at) !== '.' || !(isNamePart(following) || isNameQuote(following))) break;
      isPlain = false;
      at += 1;
    }
    return { type: isPlain ? 'word' : 'path', text: parts.join('.'), start };
  }

  function namePart(): string {
    if (!isNameQuote(text.charAt(at))) {
      const from = at;
      while (isNamePart(text.charAt(at))) at += 1;
      return text.slice(from, at);
    }
    const { value, end } = readQuoted(text, at);
    if (value === '') throw new ExpressionError('A name is missing between the quotes', at);
    at = end;
    return value;
  }

  function number(start: number): Token {
    digits();
    let isWhole = true;
    if (text.charAt(at) === '.') {
      isWhole = false;
      at += 1;
      digits();
    }
    if (/^[eE][+-]?[0-9]/.test(text.slice(at, at + 3))) {
      isWhole = false;
      at += 2;
      digits();
    }
    const written = text.slice(start, at);
    if (isNamePart(text.charAt(at)) || text.charAt(at) === '.')
      throw new ExpressionError('A number has digits, a point and an exponent only', start);
    return { type: 'number', value: toNumber(written, isWhole, start), start };
  }

  function digits(): void {
    while (isDigit(text.charAt(at))) at += 1;
  }
}

const isNameQuote = (character: string): boolean => character === '`' || character === '"';

const MAX_UINT64 = 2n ** 64n - 1n;

function toNumber(written: string, isWhole: boolean, start: number): number | bigint {
  const value = Number(written);
  if (!Number.isFinite(value)) throw new ExpressionError('This number is too large', start);
  // Integers keep every digit up to UInt64.
  if (isWhole && !Number.isSafeInteger(value) && written.length <= 20) {
    const exact = BigInt(written);
    if (exact <= MAX_UINT64) return exact;
  }
  return value;
}

function unexpectedCharacter(text: string, at: number): ExpressionError {
  const character = text.charAt(at);
  if (character > '~' || character < ' ')
    return new ExpressionError(`The character ${codePointName(text, at)} is only allowed between quotes`, at);
  return new ExpressionError(`The character ${character} is not allowed here`, at);
}
