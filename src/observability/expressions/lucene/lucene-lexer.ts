import { codePointName, isSpace } from '../characters.ts';
import { ExpressionError } from '../expression-error.ts';

/** A literal character or a wildcard. */
type WordPiece = string | typeof ANY_CHARACTERS | typeof ONE_CHARACTER;
export const ANY_CHARACTERS = Symbol('*');
export const ONE_CHARACTER = Symbol('?');

export interface Word {
  pieces: readonly WordPiece[];
  /** As written, including escapes. */
  raw: string;
  /** Without escapes; wildcards are literal. */
  text: string;
  start: number;
}

/** Typographic quotes, and characters that look like a space or are invisible. */
const QUOTE_LOOKALIKE = /[\u201C-\u201F\u2033\u2036\u00AB\u00BB\uFF02]/;
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

/** The range of visible ASCII. */
const [SPACE, PLAIN] = [0x20, 0x7e];
const BRACKETS = '[]{}';
const ENDS = '()"';

export function createLuceneLexer(text: string): LuceneLexer {
  let at = 0;

  /** The current code point, if it is allowed in a word. */
  function checked(): string {
    const code = text.codePointAt(at) ?? 0;
    const character = String.fromCodePoint(code);
    if (code > PLAIN || code < SPACE) rejectLookalike(character);
    if (character === '~') throw new ExpressionError('Fuzzy search with ~ is not supported; escape it as \\~', at);
    if (character === '^') throw new ExpressionError('Boosting with ^ is not supported; escape it as \\^', at);
    if (BRACKETS.includes(character))
      throw new ExpressionError(`Escape ${character} as \\${character}, or put the text in quotes`, at);
    return character;
  }

  function rejectLookalike(character: string): void {
    if (QUOTE_LOOKALIKE.test(character)) throw new ExpressionError('Use straight quotes: "', at);
    if (INVISIBLE.test(character))
      throw new ExpressionError(`The character ${codePointName(text, at)} is only allowed between quotes`, at);
  }

  /** The next part of a word: an escaped character, a wildcard or a character. */
  function piece(): WordPiece {
    if (text.charAt(at) === '\\') return escaped();
    const character = checked();
    at += character.length;
    if (character === '*') return ANY_CHARACTERS;
    return character === '?' ? ONE_CHARACTER : character;
  }

  /** A backslash makes the next character literal. */
  function escaped(): string {
    const character = String.fromCodePoint(text.codePointAt(at + 1) ?? 0);
    if (at + 1 >= text.length) throw new ExpressionError('A character is missing after the backslash', at);
    at += 1 + character.length;
    return character;
  }

  function finish(pieces: readonly WordPiece[], start: number): Word {
    const plain = pieces
      .map((piece) => (piece === ANY_CHARACTERS ? '*' : piece === ONE_CHARACTER ? '?' : piece))
      .join('');
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
      const pieces: WordPiece[] = [];
      while (at < text.length) {
        const character = text.charAt(at);
        if (isSpace(character) || ENDS.includes(character) || stops.includes(character)) break;
        pieces.push(piece());
      }
      return finish(pieces, start);
    },
    phrase() {
      const start = at;
      const pieces: WordPiece[] = [];
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

/** The same word with literal question marks, as in a URL. */
export function withoutSingleWildcards(word: Word): Word {
  return { ...word, pieces: word.pieces.map((piece) => (piece === ONE_CHARACTER ? '?' : piece)) };
}

export function hasWildcards(word: Word): boolean {
  return word.pieces.some((piece) => piece === ANY_CHARACTERS || piece === ONE_CHARACTER);
}

/** `*` matches anything. */
export function isOnlyStars(word: Word): boolean {
  return word.pieces.length > 0 && word.pieces.every((piece) => piece === ANY_CHARACTERS);
}
