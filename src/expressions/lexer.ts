import { codePointName, isDigit, isLetter, isNamePart, isSpace } from './characters.ts';
import { ExpressionError } from './expression-error.ts';
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

/** Longest first; each would otherwise be half understood. */
const REFUSED: readonly [string, string][] = [
  ['--', 'Comments are not allowed'],
  ['/*', 'Comments are not allowed'],
  ['#', 'Comments are not allowed'],
  ['->', 'Lambdas are not allowed'],
  ['::', 'Casts with :: are not allowed; use a function such as toFloat64OrNull'],
  ['@@', 'Variables are not allowed'],
  ['{', 'Parameters are not allowed; write the value'],
  [';', 'Only one expression is allowed'],
];

/** Reads tokens one by one, so that the first thing that makes no sense is what is complained about. */
export function createLexer(text: string): () => Token {
  let at = 0;

  return function next(): Token {
    skipSpace();
    const start = at;
    const character = text.charAt(at);
    if (character === '') return { type: 'end', start };
    if (character === "'") {
      const { value, end } = readQuoted(text, at);
      at = end;
      return { type: 'string', value, start };
    }
    if (isDigit(character) || (character === '.' && isDigit(text.charAt(at + 1)))) return number(start);
    if (isLetter(character) || character === '`' || character === '"') return name(start);
    for (const [refused, why] of REFUSED) if (text.startsWith(refused, at)) throw new ExpressionError(why, at);
    const symbol = SYMBOLS.find((known) => text.startsWith(known, at));
    if (symbol === undefined) throw strange(text, at);
    at += symbol.length;
    return { type: 'symbol', text: symbol, start };
  };

  function skipSpace(): void {
    while (at < text.length && isSpace(text.charAt(at))) at += 1;
  }

  function name(start: number): Token {
    const parts: string[] = [];
    let isPlain = true;
    for (;;) {
      const character = text.charAt(at);
      if (character === '`' || character === '"') {
        const { value, end } = readQuoted(text, at);
        if (value === '') throw new ExpressionError('A name is missing between the quotes', at);
        parts.push(value);
        isPlain = false;
        at = end;
      } else {
        const from = at;
        while (isNamePart(text.charAt(at))) at += 1;
        parts.push(text.slice(from, at));
      }
      const following = text.charAt(at + 1);
      if (text.charAt(at) !== '.' || !(isNamePart(following) || following === '`' || following === '"')) break;
      isPlain = false;
      at += 1;
    }
    return { type: isPlain ? 'word' : 'path', text: parts.join('.'), start };
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

export function isKeyword(token: Token, word: string): boolean {
  return token.type === 'word' && token.text.toUpperCase() === word;
}

const GREATEST = 2n ** 64n - 1n;

function toNumber(written: string, isWhole: boolean, start: number): number | bigint {
  const value = Number(written);
  if (!Number.isFinite(value)) throw new ExpressionError('This number is too large', start);
  // A whole number keeps every digit as far as a column can hold it.
  if (isWhole && !Number.isSafeInteger(value) && written.length <= 20) {
    const exact = BigInt(written);
    if (exact <= GREATEST) return exact;
  }
  return value;
}

function strange(text: string, at: number): ExpressionError {
  const character = text.charAt(at);
  if (character > '~' || character < ' ')
    return new ExpressionError(`The character ${codePointName(text, at)} is allowed between quotes only`, at);
  return new ExpressionError(`The character ${character} has no meaning here`, at);
}
