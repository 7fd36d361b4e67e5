import { booleanLiteral, call, type Expression, getKind, textLiteral } from './expression.ts';
import { ExpressionError } from './expression-error.ts';
import { ANY_CHARACTERS, hasWildcards, isOnlyStars, ONE_CHARACTER, type Word } from './lucene-lexer.ts';
import { like, logical } from './operators.ts';
import { resolvePath, type Scope } from './scope.ts';
import { BOOLEAN, TEXT } from './value-type.ts';

const SEPARATORS = /[^0-9A-Za-z\u0080-\u{10ffff}]+/u;
/** The characters of a token as an RE2 class, the same as in the engine's tokenizer. */
const TOKEN = '0-9A-Za-z\\x{80}-\\x{10FFFF}';
const MAX_WILDCARD_CHARACTERS = 200;
const MAX_TOKENS = 16;

/** The column that words without a field search. */
export function getImplicitColumn(scope: Scope, at: number): Expression {
  if (scope.implicitColumn === undefined)
    throw new ExpressionError('This source has no default column for bare words; write column:word', at);
  const column = resolvePath(scope, scope.implicitColumn, at);
  if (getKind(column) !== 'string')
    throw new ExpressionError(`Bare words need a string column, and ${scope.implicitColumn} is not one`, at);
  return column;
}

/** A bare word: a whole token in any letter case. One with separators inside: all of its tokens, in that order. */
export function matchWord(column: Expression, word: Word): Expression {
  if (isOnlyStars(word)) return booleanLiteral(true);
  if (hasWildcards(word)) return matchWildcards(column, word);
  const all = [...new Set(word.text.split(SEPARATORS).filter((token) => token !== ''))];
  // A very long word is matched by its first and last tokens, then as a whole.
  const tokens = all.length > MAX_TOKENS ? [...all.slice(0, MAX_TOKENS / 2), ...all.slice(-MAX_TOKENS / 2)] : all;
  const [first] = tokens;
  if (first === word.text) return hasToken(column, first);
  return logical('AND', [...tokens.map((token) => hasToken(column, token)), matchSubstring(column, word.text)]);
}

/** Words in quotes: a substring, ignoring case. */
export function matchPhrase(column: Expression, phrase: Word): Expression {
  return matchSubstring(column, phrase.text);
}

function hasToken(column: Expression, token: string): Expression {
  // The text index is on lower(), which equals lowerUTF8() for ASCII. lowerUTF8() cannot use the index.
  const isAscii = /^[0-9A-Za-z]+$/.test(token);
  const lowered = call(isAscii ? 'lower' : 'lowerUTF8', [column], TEXT);
  return call('hasToken', [lowered, textLiteral(token.toLowerCase())], BOOLEAN);
}

/** Contains the text, ignoring case. */
export function matchSubstring(value: Expression, text: string): Expression {
  return matchLike(value, `%${escapeLike(text)}%`);
}

/** `*` any characters, `?` exactly one, over the whole value. */
export function matchWholeValue(value: Expression, word: Word): Expression {
  const pattern = word.pieces.map((piece) =>
    piece === ANY_CHARACTERS ? '%' : piece === ONE_CHARACTER ? '_' : escapeLike(piece),
  );
  return matchLike(value, pattern.join(''));
}

/** Twice as fast as ILIKE if many rows match, and can use an index on lower(). Equivalent for ASCII. */
function matchLike(value: Expression, pattern: string): Expression {
  const isAscii = /^[ -~\s]*$/.test(pattern);
  return isAscii ? like(call('lower', [value], TEXT), pattern.toLowerCase(), false) : like(value, pattern, true);
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

/** Wildcards in a bare word match characters of a token, so `err*` finds "error" anywhere in the text. */
function matchWildcards(column: Expression, word: Word): Expression {
  const { pieces } = word;
  if (pieces.length > MAX_WILDCARD_CHARACTERS)
    throw new ExpressionError(`A word with wildcards has at most ${MAX_WILDCARD_CHARACTERS} characters`, word.start);
  const [first, last] = [pieces[0], pieces.at(-1)];
  const inner = pieces.slice(first === ANY_CHARACTERS ? 1 : 0, last === ANY_CHARACTERS ? -1 : undefined);
  if (first === ANY_CHARACTERS && last === ANY_CHARACTERS && inner.every((piece) => typeof piece === 'string')) {
    return matchSubstring(column, inner.join(''));
  }
  const middle = inner.map((piece) =>
    piece === ANY_CHARACTERS ? `[${TOKEN}]*` : piece === ONE_CHARACTER ? `[${TOKEN}]` : quoteRe2(piece),
  );
  // A star at an end needs no token boundary there.
  const start = first === ANY_CHARACTERS ? '' : `(?:^|[^${TOKEN}])`;
  const end = last === ANY_CHARACTERS ? '' : `(?:$|[^${TOKEN}])`;
  return call('match', [column, textLiteral(`(?i)${start}${middle.join('')}${end}`)], BOOLEAN);
}

function quoteRe2(text: string): string {
  return text.replace(
    /[^0-9A-Za-z\u0080-\u{10ffff}]/gu,
    (character) => `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
