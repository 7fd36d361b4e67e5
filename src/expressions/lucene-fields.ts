import {
  asNumber,
  booleanLiteral,
  type ComparisonOperator,
  call,
  type Expression,
  isNullable,
  kindOf,
  numberLiteral,
  textLiteral,
  timeLiteral,
} from './expression.ts';
import { ExpressionError } from './expression-error.ts';
import { buildCall } from './function-call.ts';
import { hasWildcards, isAnything, type Word } from './lucene-lexer.ts';
import { containing, matchingWhole } from './lucene-words.ts';
import { parseMoment } from './moments.ts';
import { compare, logical, parseNumber } from './operators.ts';
import { entryOf, findPath, quoted, type Scope } from './scope.ts';
import { arrayOf, BOOLEAN, OTHER, TEXT } from './value-type.ts';

/** What stands before a colon. */
export interface Field {
  name: string;
  value: Expression;
  /** The value is an item of this array, and any item will do. */
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
    if (kindOf(value) === 'array') return { name, value: item, array: value };
    if (kindOf(value) === 'map') return { name, value: item, array: call('mapValues', [value], arrayOf(element)) };
    return { name, value };
  }
  if (kindOf(value) === 'map') return { name, value: entryOf(value, rest) };
  if (kindOf(value) === 'array' && element.kind === 'map') return { name, value: entryOf(item, rest), array: value };
  return undefined;
}

function within({ array }: Field, test: Expression): Expression {
  return array ? { node: 'some', array, test, type: BOOLEAN } : test;
}

/** `field:*`: not empty, not NULL, at least one item. */
function hasValue({ value, array }: Field): Expression {
  if (array && value.node === 'item') return call('notEmpty', [array], BOOLEAN);
  const test = presence(value);
  return array ? { node: 'some', array, test, type: BOOLEAN } : test;
}

function presence(value: Expression): Expression {
  if (kindOf(value) === 'text') return call('notEmpty', [value], BOOLEAN);
  if (value.node === 'entry' || isNullable(value)) return buildCall('isNotNull', [{ value, at: 0 }], 0);
  return booleanLiteral(true);
}

/** `field:word`. */
export function matchField(field: Field, word: Word): Expression {
  if (isAnything(word)) return hasValue(field);
  return within(field, hasWildcards(word) ? matchingWhole(shown(field, word.start), word) : sameOrHolds(field, word));
}

/** `field:"text"`: exactly that. */
export function equalField(field: Field, phrase: Word): Expression {
  const { value, array } = field;
  if (kindOf(value) !== 'text') return within(field, sameOrHolds(field, phrase));
  if (array && value.node === 'item') return call('has', [array, textLiteral(phrase.text)], BOOLEAN);
  return within(field, equals(value, textLiteral(phrase.text)));
}

function sameOrHolds(field: Field, word: Word): Expression {
  const { value } = field;
  if (kindOf(value) === 'time') return compareTime(field, '=', word);
  if (kindOf(value) !== 'text') return equals(value, literalFor(field, word));
  const holds = containing(value, word.text);
  const number = value.node === 'entry' ? parseNumber(word.text) : undefined;
  if (number === undefined) return holds;
  // An attribute that is a number is compared as one: 500 is 500.0 and not 1500.
  const same = equals(asNumber(value), numberLiteral(number));
  return { node: 'call', name: 'coalesce', operands: [same, holds], type: BOOLEAN };
}

/** What a value is compared with: `>5`, or one end of a range. */
interface Bound {
  operator: ComparisonOperator;
  word: Word;
  isQuoted: boolean;
}

/** `field:>5`. */
export function compareField(field: Field, bound: Bound): Expression {
  return within(field, compared(field, bound, isNumber(bound)));
}

/** `field:[1 TO 5]`; a star is an open end. Of an array, one item has to lie between both. */
export function rangeField(field: Field, bounds: readonly Bound[]): Expression {
  const closed = bounds.filter(({ word, isQuoted }) => isQuoted || !isAnything(word));
  if (closed.length === 0) return hasValue(field);
  const areNumbers = closed.every(isNumber);
  return within(
    field,
    logical(
      'AND',
      closed.map((bound) => compared(field, bound, areNumbers)),
    ),
  );
}

const isNumber = ({ word, isQuoted }: Bound) => !isQuoted && parseNumber(word.text) !== undefined;

function compared(field: Field, { operator, word, isQuoted }: Bound, asNumbers: boolean): Expression {
  const { value, name } = field;
  if (kindOf(value) === 'boolean') throw new ExpressionError(`${quoted(name)} is true or false`, word.start);
  if (!isQuoted && hasWildcards(word)) throw new ExpressionError('A wildcard cannot be compared', word.start);
  if (kindOf(value) === 'time') return compareTime(field, operator, word);
  if (kindOf(value) !== 'text') return test(operator, value, literalFor(field, word));
  if (asNumbers) return test(operator, asNumber(value), numberLiteral(parseNumber(word.text) ?? 0));
  return test(operator, value, textLiteral(word.text));
}

const test = (operator: ComparisonOperator, left: Expression, right: Expression) =>
  compare(operator, { value: left, at: 0 }, { value: right, at: 0 });
const equals = (left: Expression, right: Expression) => test('=', left, right);

function literalFor(field: Field, word: Word): Expression {
  if (kindOf(field.value) === 'number') {
    const number = parseNumber(word.text);
    if (number !== undefined) return numberLiteral(number);
    throw new ExpressionError(`${quoted(field.name)} is a number, so its value must be a number`, word.start);
  }
  if (kindOf(field.value) === 'boolean') {
    const lower = word.text.toLowerCase();
    if (lower === 'true' || lower === '1') return booleanLiteral(true);
    if (lower === 'false' || lower === '0') return booleanLiteral(false);
    throw new ExpressionError(`${quoted(field.name)} is true or false`, word.start);
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

function shown(field: Field, at: number): Expression {
  const { value } = field;
  if (kindOf(value) === 'text') return value;
  if (kindOf(value) === 'number' || kindOf(value) === 'time') return call('toString', [value], TEXT);
  throw new ExpressionError(`${quoted(field.name)} cannot be searched with wildcards`, at);
}
