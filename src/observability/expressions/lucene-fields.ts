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
} from './expression.ts';
import { ExpressionError } from './expression-error.ts';
import { buildCall } from './function-call.ts';
import { hasWildcards, isOnlyStars, type Word } from './lucene-lexer.ts';
import { matchSubstring, matchWholeValue } from './lucene-words.ts';
import { compare, logical, parseNumber } from './operators.ts';
import { findPath, mapEntry, quoted, type Scope } from './scope.ts';
import { parseMoment } from './time-literal.ts';
import { arrayType, BOOLEAN, OTHER, TEXT } from './value-type.ts';

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
