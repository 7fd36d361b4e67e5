import {
  type Call,
  call,
  type Expression,
  getKind,
  isNullable,
  isNullLiteral,
  type Literal,
  NULL,
  textLiteral,
} from '../expression.ts';
import { ExpressionError } from '../expression-error.ts';
import { not, type Positioned, unify } from '../operators.ts';
import { arrayType, BOOLEAN, DAY, NUMBER, nullable, nullableIf, OTHER, TEXT, type ValueType } from '../value-type.ts';
import { boolean } from './function-rules.ts';

const listValues = (operands: readonly Positioned[]) => operands.map(({ value }) => value);

/** Builds functions whose result or other operands depend on the kind of the first operand. */
export function buildByKind(operands: readonly Positioned[], name: string, resultType: ValueType): Expression {
  const [first, second] = operands;
  const element = first?.value.type.element ?? OTHER;
  if (!first) throw new TypeError(`${name} has operands`);
  if (name === 'mapValues') return call(name, [first.value], arrayType(element));
  if (name === 'arrayElement' && second) {
    return { node: 'element', array: first.value, index: second.value, type: element };
  }
  if (name === 'has' && second) {
    const item: Expression = { node: 'item', type: element };
    const [same, value] = unify({ value: item, at: first.at }, second);
    if (same !== item) throw new ExpressionError(`${name} expects a ${element.kind} here`, second.at);
    return call(name, [first.value, value], resultType);
  }
  if (name === 'greatest' || name === 'least') {
    const kinds = operands.map(({ value, at }) => unify(first, { value, at })[1]);
    const odd = kinds.findIndex((value) => getKind(value) !== getKind(first.value));
    if (odd >= 0) throw new ExpressionError(`${name} expects values of one kind`, operands[odd]?.at ?? first.at);
    return call(name, widenNumbers(kinds), commonType(kinds));
  }
  return call(name, listValues(operands), resultType);
}

/** Strings stay unchanged; other values are converted by toString. */
export function toText(operands: readonly Positioned[]): Expression {
  const [first] = listValues(operands);
  if (!first || getKind(first) === 'string') return first ?? NULL;
  return call('toString', [first], TEXT);
}

/** Chooses the variant of `toInt64`, `toInt64OrNull` and `toInt64OrZero` that cannot fail for the operand. */
export function buildConversion(operands: readonly Positioned[], name: string): Expression {
  const [operand] = operands;
  if (!operand) throw new TypeError(`${name} has an operand`);
  const base = name.replace(/Or(Null|Zero)$/, '');
  const kind = getKind(operand.value);
  if (kind === 'time')
    throw new ExpressionError(`${name} expects a string or a number; for a time use toUnixTimestamp`, operand.at);
  // Converting an infinite number to an integer would fail the whole query.
  if (kind === 'number' && base.includes('Int')) return call('trunc', [operand.value], NUMBER);
  if (kind !== 'string') return call(base, [operand.value], NUMBER);
  if (name.endsWith('OrZero')) return call(name, [operand.value], NUMBER);
  return call(`${base}OrNull`, [operand.value], nullable(NUMBER));
}

export function buildConcat(operands: readonly Positioned[]): Expression {
  const values = operands.flatMap(({ value, at }) => {
    const text = toText([{ value, at }]);
    return text.node === 'call' && text.name === 'concat' ? text.operands : [text];
  });
  return call('concat', values, TEXT);
}

/** A replacement longer than its pattern makes a string grow; nested replacements would make it grow exponentially. */
export function buildReplace(operands: readonly Positioned[], name: string): Expression {
  const [subject, needle, replacement] = operands;
  if (!subject || !needle || !replacement) throw new TypeError(`${name} has operands`);
  if (name === 'replaceAll' && isLonger(needle.value, replacement.value) && containsGrowth(subject.value))
    throw new ExpressionError('Only one replaceAll in an expression may make a string longer', replacement.at);
  return call(name, listValues(operands), TEXT);
}

const literalLength = (expression: Expression) => (expression as Literal).value?.toString().length ?? 0;
const isLonger = (needle: Expression, replacement: Expression) => literalLength(replacement) > literalLength(needle);

function containsGrowth(expression: Expression): boolean {
  if (expression.node !== 'call') return false;
  const [, needle, replacement] = expression.operands;
  if (expression.name === 'replaceAll' && needle && replacement && isLonger(needle, replacement)) return true;
  return expression.operands.some(containsGrowth);
}

/** `if` and `multiIf`: conditions and results alternate; the last result is the default. */
export function buildChoice(operands: readonly Positioned[], name: string): Expression {
  const last = operands.length - 1;
  if (last % 2 !== 0)
    throw new ExpressionError(
      `${name} expects pairs of a condition and a result, then one more result`,
      operands[0]?.at ?? 0,
    );
  const results = operands.filter((_, index) => index % 2 === 1 || index === last);
  const type = requireOneKind(results, name);
  const values = widenNumbers(listValues(results));
  const inOrder = operands.map((operand, index) =>
    index === last
      ? (values.at(-1) ?? NULL)
      : index % 2 === 1
        ? (values[(index - 1) / 2] ?? NULL)
        : toCondition(operand, name),
  );
  const isSometimesNull = type.nullable || values.some(isNullable);
  return { node: 'call', name: last === 2 ? 'if' : name, operands: inOrder, type: nullableIf(isSometimesNull, type) };
}

function toCondition({ value, at }: Positioned, name: string): Expression {
  const accepted = boolean.accept(value);
  if (!accepted) throw new ExpressionError(`${name} expects a condition here`, at);
  return accepted;
}

/** The first operand with a value. A missing attribute has none. */
export function buildCoalesce(operands: readonly Positioned[]): Expression {
  const type = requireOneKind(operands, 'coalesce');
  const values = operands.map(({ value, at }) =>
    value.node === 'entry' && getKind(value) === 'string'
      ? buildNullIf([
          { value, at },
          { value: textLiteral(''), at },
        ])
      : value,
  );
  const isAlwaysNullable = values.every(isNullable);
  return {
    node: 'call',
    name: 'coalesce',
    operands: widenNumbers(values),
    type: { ...type, nullable: isAlwaysNullable },
  };
}

/** ClickHouse has no common type for signed, unsigned and floating-point 64-bit numbers, so all become Float64. */
function widenNumbers(values: readonly Expression[]): readonly Expression[] {
  const numbers = values.filter((value) => getKind(value) === 'number');
  if (numbers.length < 2 || numbers.every(isSmall)) return values;
  return values.map((value) =>
    getKind(value) !== 'number' || isSmall(value) || isFloat(value) ? value : call('toFloat64', [value], NUMBER),
  );
}

/** A literal that has a common type with Float64. */
function isSmall(value: Expression): boolean {
  if (value.node !== 'literal' || typeof value.value !== 'number') return false;
  return !Number.isInteger(value.value) || Math.abs(value.value) < 2 ** 31;
}

const isFloat = (value: Expression) => value.node === 'call' && value.name.startsWith('toFloat64');

/** The common type of all results. NULL matches every kind. */
function requireOneKind(results: readonly Positioned[], name: string): ValueType {
  const known = results.filter(({ value }) => !isNullLiteral(value));
  const [first] = known;
  if (!first) throw new ExpressionError(`${name} expects at least one result that is not NULL`, results[0]?.at ?? 0);
  const scalars = new Set(['string', 'number', 'boolean', 'time']);
  const odd = known.find(({ value }) => getKind(value) !== getKind(first.value) || !scalars.has(getKind(value)));
  if (odd) throw new ExpressionError(`${name} expects results of one kind`, odd.at);
  return nullableIf(known.length < results.length, commonType(listValues(known)));
}

/** For values of one kind. If one of them is a date, the result may be one. */
function commonType(values: readonly Expression[]): ValueType {
  const [first = NULL] = values;
  return values.some(({ type }) => type.isDay) ? DAY : { kind: getKind(first), nullable: false };
}

export function buildNullIf(operands: readonly Positioned[]): Call {
  const [first, second] = operands;
  if (!first || !second) throw new TypeError('nullIf has two operands');
  const [value, other] = unify(first, second);
  return {
    node: 'call',
    name: 'nullIf',
    operands: [value, other],
    type: nullable(commonType([value])),
  };
}

/** `isNull`, `isNotNull`. For an attribute: whether the map has it, since a missing one reads as an empty string. */
export function buildNullTest(operands: readonly Positioned[], name: string): Expression {
  const [value] = listValues(operands);
  if (!value) throw new TypeError(`${name} has an operand`);
  if (value.node === 'entry' && !isNullable(value)) {
    const has = call('mapContains', [value.map, textLiteral(value.key)], BOOLEAN);
    return name === 'isNull' ? not(has) : has;
  }
  return { node: 'call', name, operands: [value], type: BOOLEAN };
}
