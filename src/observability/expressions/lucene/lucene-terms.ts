import {
  asNumber,
  booleanLiteral,
  type ComparisonOperator,
  call,
  type Expression,
  getKind,
  isNullable,
  numberLiteral,
  textLiteral,
  timeLiteral,
} from '../expression.ts';
import { ExpressionError, UnknownColumnError } from '../expression-error.ts';
import { buildCall } from '../functions/function-call.ts';
import { compare, like, logical, parseNumber } from '../operators.ts';
import { findPath, mapEntry, quoted, resolvePath, type Scope } from '../scope.ts';
import { parseMoment } from '../time-literal.ts';
import { arrayType, BOOLEAN, OTHER, TEXT } from '../value-type.ts';
import { ANY_CHARACTERS, hasWildcards, isOnlyStars, ONE_CHARACTER, type Word } from './lucene-lexer.ts';

const SEPARATORS = /[^0-9A-Za-z\u0080-\u{10ffff}]+/u;
/** The characters of a token as an RE2 class, the same as in the engine's tokenizer. */
const TOKEN = '0-9A-Za-z\\x{80}-\\x{10FFFF}';
const MAX_WILDCARD_CHARACTERS = 200;
const MAX_TOKENS = 16;

/** The column that words without a field search. */
export function getImplicitColumn(scope: Scope, at: number): Expression {
  if (scope.implicitColumn === undefined)
    throw new UnknownColumnError('This source has no default column for bare words; write column:word', at);
  const column = resolvePath(scope, scope.implicitColumn, at);
  if (getKind(column) !== 'string')
    throw new UnknownColumnError(`Bare words need a string column, and ${scope.implicitColumn} is not one`, at);
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
function matchSubstring(value: Expression, text: string): Expression {
  return matchLike(value, `%${escapeLike(text)}%`);
}

/** `*` any characters, `?` exactly one, over the whole value. */
function matchWholeValue(value: Expression, word: Word): Expression {
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

/** The column or attribute before a colon. */
export interface Field {
  name: string;
  value: Expression;
  /** The value is any element of this array. */
  array?: Expression;
}

/** A column, an attribute of a map, any item of an array, any value of a map. */
export function findField(scope: Scope, name: string): Field | undefined {
  const found = findPath(scope, name);
  if (!found) return undefined;
  const { value, rest } = found;
  const element = value.type.element ?? OTHER;
  const item: Expression = { node: 'item', type: element };
  if (rest === undefined) {
    if (getKind(value) === 'array') return { name, value: item, array: value };
    if (getKind(value) === 'map') return { name, value: item, array: call('mapValues', [value], arrayType(element)) };
    return { name, value };
  }
  if (getKind(value) === 'map') return { name, value: mapEntry(value, rest) };
  if (getKind(value) === 'array' && element.kind === 'map') return { name, value: mapEntry(item, rest), array: value };
  return undefined;
}

function testItems({ array }: Field, test: Expression): Expression {
  return array ? { node: 'some', array, test, type: BOOLEAN } : test;
}

/** `field:*`: not empty, not NULL, at least one item. */
function hasValue({ value, array }: Field): Expression {
  if (array && value.node === 'item') return call('notEmpty', [array], BOOLEAN);
  const test = testPresence(value);
  return array ? { node: 'some', array, test, type: BOOLEAN } : test;
}

function testPresence(value: Expression): Expression {
  if (getKind(value) === 'string') return call('notEmpty', [value], BOOLEAN);
  if (value.node === 'entry' || isNullable(value)) return buildCall('isNotNull', [{ value, at: 0 }], 0);
  return booleanLiteral(true);
}

/** `field:word`. */
export function matchField(field: Field, word: Word): Expression {
  if (isOnlyStars(word)) return hasValue(field);
  return testItems(
    field,
    hasWildcards(word) ? matchWholeValue(toSearchText(field, word.start), word) : matchValue(field, word),
  );
}

/** `field:"text"`: exactly this text. */
export function equalField(field: Field, phrase: Word): Expression {
  const { value, array } = field;
  if (getKind(value) !== 'string') return testItems(field, matchValue(field, phrase));
  if (array && value.node === 'item') return call('has', [array, textLiteral(phrase.text)], BOOLEAN);
  return testItems(field, equals(value, textLiteral(phrase.text)));
}

function matchValue(field: Field, word: Word): Expression {
  const { value } = field;
  if (getKind(value) === 'time') return compareTime(field, '=', word);
  if (getKind(value) !== 'string') return equals(value, parseLiteral(field, word));
  const contains = matchSubstring(value, word.text);
  const number = value.node === 'entry' ? parseNumber(word.text) : undefined;
  if (number === undefined) return contains;
  // A numeric attribute is compared as a number: 500 matches 500.0 and not 1500.
  const same = equals(asNumber(value), numberLiteral(number));
  return { node: 'call', name: 'coalesce', operands: [same, contains], type: BOOLEAN };
}

/** A comparison (`>5`) or one end of a range. */
interface Bound {
  operator: ComparisonOperator;
  word: Word;
  isQuoted: boolean;
}

/** `field:>5`. */
export function compareField(field: Field, bound: Bound): Expression {
  return testItems(field, compareValue(field, bound, isNumber(bound)));
}

/** `field:[1 TO 5]`; a star is an open end. For arrays, one element must be within both ends. */
export function rangeField(field: Field, bounds: readonly Bound[]): Expression {
  const closed = bounds.filter(({ word, isQuoted }) => isQuoted || !isOnlyStars(word));
  if (closed.length === 0) return hasValue(field);
  const areNumbers = closed.every(isNumber);
  return testItems(
    field,
    logical(
      'AND',
      closed.map((bound) => compareValue(field, bound, areNumbers)),
    ),
  );
}

const isNumber = ({ word, isQuoted }: Bound) => !isQuoted && parseNumber(word.text) !== undefined;

function compareValue(field: Field, { operator, word, isQuoted }: Bound, asNumbers: boolean): Expression {
  const { value, name } = field;
  if (getKind(value) === 'boolean')
    throw new ExpressionError(`${quoted(name)} is a boolean: use true or false`, word.start);
  if (!isQuoted && hasWildcards(word)) throw new ExpressionError('A wildcard cannot be compared', word.start);
  if (getKind(value) === 'time') return compareTime(field, operator, word);
  if (getKind(value) !== 'string') return test(operator, value, parseLiteral(field, word));
  if (asNumbers) return test(operator, asNumber(value), numberLiteral(parseNumber(word.text) ?? 0));
  return test(operator, value, textLiteral(word.text));
}

const test = (operator: ComparisonOperator, left: Expression, right: Expression) =>
  compare(operator, { value: left, at: 0 }, { value: right, at: 0 });
const equals = (left: Expression, right: Expression) => test('=', left, right);

function parseLiteral(field: Field, word: Word): Expression {
  if (getKind(field.value) === 'number') {
    const number = parseNumber(word.text);
    if (number !== undefined) return numberLiteral(number);
    throw new ExpressionError(`${quoted(field.name)} is a number, so its value must be a number`, word.start);
  }
  if (getKind(field.value) === 'boolean') {
    const lower = word.text.toLowerCase();
    if (lower === 'true' || lower === '1') return booleanLiteral(true);
    if (lower === 'false' || lower === '0') return booleanLiteral(false);
    throw new ExpressionError(`${quoted(field.name)} is a boolean: use true or false`, word.start);
  }
  throw new ExpressionError(`${quoted(field.name)} cannot be searched`, word.start);
}

/** A date without a time is the whole day: `>` means after its end, `<=` up to its end. */
function compareTime(field: Field, operator: ComparisonOperator, word: Word): Expression {
  const moment = parseMoment(word.text);
  if (!moment)
    throw new ExpressionError(`${quoted(field.name)} is a time; write it as 2026-11-15T12:00:00Z`, word.start);
  const at = (text: string, sign: ComparisonOperator) => test(sign, field.value, timeLiteral(text));
  if (moment.dayEnd === undefined) return at(moment.text, operator);
  if (operator === '=') return logical('AND', [at(moment.text, '>='), at(moment.dayEnd, '<')]);
  if (operator === '>') return at(moment.dayEnd, '>=');
  if (operator === '<=') return at(moment.dayEnd, '<');
  return at(moment.text, operator);
}

function toSearchText(field: Field, at: number): Expression {
  const { value } = field;
  if (getKind(value) === 'string') return value;
  if (getKind(value) === 'number' || getKind(value) === 'time') return call('toString', [value], TEXT);
  throw new ExpressionError(`${quoted(field.name)} cannot be searched with wildcards`, at);
}
