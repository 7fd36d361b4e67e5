import {
  type ArithmeticOperator,
  asNumber,
  booleanLiteral,
  type ComparisonOperator,
  call,
  type Expression,
  getKind,
  isNullable,
  isNullLiteral,
  type Literal,
  numberLiteral,
  textLiteral,
  timeLiteral,
} from './expression.ts';
import { ExpressionError } from './expression-error.ts';
import { parseMoment } from './time-literal.ts';
import { BOOLEAN, NUMBER, nullableIf } from './value-type.ts';

/** An expression and the position of its text, for errors. */
export interface Positioned {
  value: Expression;
  at: number;
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Parses a whole string as a number. */
export function parseNumber(text: string): number | bigint | undefined {
  if (!DECIMAL.test(text)) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  if (Number.isSafeInteger(value) || !/^[+-]?\d{1,20}$/.test(text)) return value;
  const exact = BigInt(text.replace('+', ''));
  return exact >= -(2n ** 63n) && exact < 2n ** 64n ? exact : value;
}

const isLiteral = (expression: Expression): expression is Literal => expression.node === 'literal';
const COMPARABLE = new Set(['string', 'number', 'boolean', 'time']);

/** Converts two operands to a common kind. A string compared with a number is parsed as a number. */
export function unify(left: Positioned, right: Positioned): [Expression, Expression] {
  for (const side of [left, right]) {
    if (isNullLiteral(side.value))
      throw new ExpressionError('Nothing equals NULL; use IS NULL or IS NOT NULL', side.at);
    if (!COMPARABLE.has(getKind(side.value)))
      throw new ExpressionError('Only strings, numbers, times and booleans can be compared', side.at);
  }
  const [one, two] = [getKind(left.value), getKind(right.value)];
  if (one === two || (isNumeric(one) && isNumeric(two))) return [left.value, right.value];
  return isLiteral(right.value) || !isLiteral(left.value)
    ? adapt(left, right)
    : (adapt(right, left).reverse() as [Expression, Expression]);
}

const isNumeric = (kind: string) => kind === 'number' || kind === 'boolean';

/** For operands of different kinds. If one is a literal, it is `right` and is converted. */
function adapt(left: Positioned, right: Positioned): [Expression, Expression] {
  const kinds = `${getKind(left.value)} ${getKind(right.value)}`;
  if (kinds === 'string number') return [asNumber(left.value), right.value];
  if (kinds === 'string boolean' && isLiteral(right.value)) return [left.value, textLiteral(String(right.value.value))];
  if (isLiteral(right.value) && getKind(right.value) === 'string') {
    return [left.value, convertText(String(right.value.value), getKind(left.value), right.at)];
  }
  if (kinds === 'number string') return [left.value, asNumber(right.value)];
  throw new ExpressionError(`A ${getKind(right.value)} cannot be compared with a ${getKind(left.value)}`, right.at);
}

/** Converts a quoted literal to the kind of the other operand. */
function convertText(text: string, kind: string, at: number): Literal {
  if (kind === 'number') {
    const value = parseNumber(text.trim());
    if (value !== undefined) return numberLiteral(value);
    throw new ExpressionError('This is compared with a number, so it must be a number', at);
  }
  if (kind === 'time') {
    const moment = parseMoment(text.trim());
    if (moment) return timeLiteral(moment.text);
    throw new ExpressionError("This is compared with a time; write it as '2026-11-15 12:00:00'", at);
  }
  const lower = text.toLowerCase();
  if (lower === 'true' || lower === 'false') return booleanLiteral(lower === 'true');
  throw new ExpressionError('This is compared with a boolean, so it must be true or false', at);
}

export function compare(operator: ComparisonOperator, one: Positioned, two: Positioned): Expression {
  const [left, right] = unify(one, two);
  return {
    node: 'comparison',
    operator,
    left,
    right,
    type: nullableIf(isNullable(left) || isNullable(right), BOOLEAN),
  };
}

/** Converts an operand and several others to a common kind. */
function unifyAll(operand: Positioned, others: readonly Positioned[]): [Expression, Expression[]] {
  let value = operand.value;
  const rest = others.map((other, index) => {
    const [left, right] = unify({ value, at: operand.at }, other);
    if (index > 0 && left !== value) throw new ExpressionError('These values must all be of one kind', other.at);
    value = left;
    return right;
  });
  return [value, rest];
}

export function isIn(operand: Positioned, values: readonly (Positioned & { value: Literal })[]): Expression {
  const [value, rest] = unifyAll(operand, values);
  if (getKind(value) === 'time') return isOneOfTimes({ value, at: operand.at }, rest);
  return { node: 'in', operand: value, values: rest.filter(isLiteral), type: nullableIf(isNullable(value), BOOLEAN) };
}

/** ClickHouse does not match dates in a list of times, so each is compared. The operand is repeated, so it must be short. */
function isOneOfTimes(operand: Positioned, times: readonly Expression[]): Expression {
  if (operand.value.node !== 'column' && times.length > 1)
    throw new ExpressionError('IN with times needs a column; compare with each time instead', operand.at);
  return logical(
    'OR',
    times.map((time) => compare('=', operand, { value: time, at: operand.at })),
  );
}

export function between(operand: Positioned, low: Positioned, high: Positioned): Expression {
  const [value, [from = low.value, to = high.value]] = unifyAll(operand, [low, high]);
  const type = nullableIf([value, from, to].some(isNullable), BOOLEAN);
  return { node: 'between', operand: value, low: from, high: to, type };
}

export function like(operand: Expression, pattern: string, ignoreCase: boolean): Expression {
  return { node: 'like', operand, pattern, ignoreCase, type: nullableIf(isNullable(operand), BOOLEAN) };
}

/** Converts an operand to a condition. A number other than 0 is true. */
export function condition({ value, at }: Positioned): Expression {
  if (getKind(value) === 'boolean') return value;
  if (getKind(value) === 'number') return compare('!=', { value, at }, { value: numberLiteral(0), at });
  throw new ExpressionError('Expected a condition, such as a comparison', at);
}

export function logical(operator: 'AND' | 'OR', conditions: readonly Expression[]): Expression {
  const operands = conditions.flatMap((each) =>
    each.node === 'logical' && each.operator === operator ? each.operands : [each],
  );
  const [only] = operands;
  if (operands.length === 1 && only) return only;
  return { node: 'logical', operator, operands, type: nullableIf(operands.some(isNullable), BOOLEAN) };
}

export function not(operand: Expression): Expression {
  return { node: 'not', operand, type: nullableIf(isNullable(operand), BOOLEAN) };
}

export function minus({ value, at }: Positioned): Expression {
  if (isLiteral(value) && (typeof value.value === 'number' || typeof value.value === 'bigint')) {
    const negative = -value.value;
    return numberLiteral(typeof negative === 'bigint' && negative < -(2n ** 63n) ? Number(negative) : negative);
  }
  const operand = numeric({ value, at });
  return { node: 'minus', operand, type: nullableIf(isNullable(operand), NUMBER) };
}

function isInterval(expression: Expression): boolean {
  return expression.node === 'call' && expression.name.startsWith('toInterval');
}

export function arithmetic(operator: ArithmeticOperator, one: Positioned, two: Positioned): Expression {
  if (getKind(one.value) === 'time') return shift(operator, one, two);
  const left = numeric(one);
  const right = operator === '%' ? divisor(numeric(two)) : numeric(two);
  return { node: 'arithmetic', operator, left, right, type: nullableIf(isNullable(left) || isNullable(right), NUMBER) };
}

function shift(
  operator: ArithmeticOperator,
  { value: left }: Positioned,
  { value: right, at }: Positioned,
): Expression {
  if (!isInterval(right) || (operator !== '+' && operator !== '-'))
    throw new ExpressionError(
      'Only an interval can be added to a time, such as INTERVAL 1 HOUR; see also dateDiff',
      at,
    );
  return { node: 'arithmetic', operator, left, right, type: nullableIf(isNullable(right), left.type) };
}

/** ClickHouse fails the whole query on `x % 0`, so a divisor of 0 becomes NULL. */
function divisor(value: Expression): Expression {
  if (isLiteral(value) && value.value !== 0) return value;
  const [operand, by] = value.node === 'call' && value.name === 'nullIf' ? value.operands : [];
  if (operand && by?.node === 'literal' && by.value === 0) return value;
  return { ...call('nullIf', [value, numberLiteral(0)], NUMBER), type: { kind: 'number', nullable: true } };
}

function numeric({ value, at }: Positioned): Expression {
  const kind = getKind(value);
  if (kind === 'number') return value;
  if (kind === 'string') return asNumber(value);
  throw new ExpressionError('Expected a number', at);
}
