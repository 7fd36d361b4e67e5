import { codePointName, isSpace } from './characters.ts';
import { ExpressionError } from './expression-error.ts';

/** What a word is made of: characters that stand for themselves, and wildcards. */
type Piece = string | typeof ANY | typeof ONE;
export const ANY = Symbol('*');
export const ONE = Symbol('?');

export interface Word {
  pieces: readonly Piece[];
  /** As written, escapes and all. */
  raw: string;
  /** Without escapes and wildcards' special meaning. */
  text: string;
  start: number;
}

/** Looks like a straight quote or a space to the eye, or like nothing at all. */
const CONFUSABLE = /[\u201C-\u201F\u2033\u2036\u00AB\u00BB\uFF02]/;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Z}]/u;

interface LuceneLexer {
  at(): number;
  peek(offset?: number): string;
  skipSpaces(): void;
  startsWith(text: string): boolean;
  advance(count: number): void;
  /** Up to a space, a bracket or a quote, and up to one of `stops`. May be empty. */
  word(stops: string): Word;
  /** From one double quote to the next. */
  phrase(): Word;
}

/** Visible ASCII lies between these two. */
const [SPACE, PLAIN] = [0x20, 0x7e];
const BRACKETS = '[]{}';
const ENDS = '()"';

export function createLuceneLexer(text: string): LuceneLexer {
  let at = 0;

  /** The character here, whole, if it may stand in a word. */
  function checked(): string {
    const code = text.codePointAt(at) ?? 0;
    const character = String.fromCodePoint(code);
    if (code > PLAIN || code < SPACE) {
      if (CONFUSABLE.test(character)) throw new ExpressionError('Use straight quotes: "', at);
      if (INVISIBLE.test(character))
        throw new ExpressionError(`The character ${codePointName(text, at)} is allowed between quotes only`, at);
    }
    if (character === '~') throw new ExpressionError('Fuzzy search with ~ is not supported; escape it as \\~', at);
    if (character === '^') throw new ExpressionError('Boosting with ^ is not supported; escape it as \\^', at);
    if (BRACKETS.includes(character))
      throw new ExpressionError(`Escape ${character} as \\${character}, or put the text in quotes`, at);
    return character;
  }

  /** After a backslash every character stands for itself. */
  function escaped(): string {
    const character = String.fromCodePoint(text.codePointAt(at + 1) ?? 0);
    if (at + 1 >= text.length) throw new ExpressionError('A character is missing after the backslash', at);
    at += 1 + character.length;
    return character;
  }

  function finish(pieces: readonly Piece[], start: number): Word {
    const plain = pieces.map((piece) => (piece === ANY ? '*' : piece === ONE ? '?' : piece)).join('');
    return { pieces, raw: text.slice(start, at), text: plain, start };
  }

  return {
    at: () => at,
    peek: (offset = 0) => text.charAt(at + offset),
    startsWith: (start) => text.startsWith(start, at),
    skipSpaces() {
      while (isSpace(text.charAt(at))) at += 1;
    },
    advance(count) {
      at += count;
    },
    word(stops) {
      const start = at;
      const pieces: Piece[] = [];
      while (at < text.length) {
        const character = text.charAt(at);
        if (isSpace(character) || ENDS.includes(character) || stops.includes(character)) break;
        if (character === '\\') {
          pieces.push(escaped());
          continue;
        }
        const whole = checked();
        pieces.push(whole === '*' ? ANY : whole === '?' ? ONE : whole);
        at += whole.length;
      }
      return finish(pieces, start);
    },
    phrase() {
      const start = at;
      const pieces: Piece[] = [];
      at += 1;
      for (;;) {
        const character = text.charAt(at);
        if (character === '') throw new ExpressionError('The closing " is missing', start);
        if (character === '\\') {
          pieces.push(escaped());
          continue;
        }
        at += 1;
        if (character === '"') break;
        pieces.push(character);
      }
      if (text.charAt(at) === '~') throw new ExpressionError('Proximity search with ~ is not supported', at);
      if (text.charAt(at) === '^') throw new ExpressionError('Boosting with ^ is not supported', at);
      return finish(pieces, start);
    },
  };
}

/** The same word with its question marks taken literally, as in a URL. */
export function withoutOnes(word: Word): Word {
  return { ...word, pieces: word.pieces.map((piece) => (piece === ONE ? '?' : piece)) };
}

export function hasWildcards(word: Word): boolean {
  return word.pieces.some((piece) => piece === ANY || piece === ONE);
}

/** Nothing but stars: anything at all. */
export function isAnything(word: Word): boolean {
  return word.pieces.length > 0 && word.pieces.every((piece) => piece === ANY);
}
