import {
  type ArithmeticOperator,
  asNumber,
  booleanLiteral,
  type ComparisonOperator,
  call,
  type Expression,
  isNullable,
  isNullLiteral,
  kindOf,
  type Literal,
  numberLiteral,
  textLiteral,
  timeLiteral,
} from './expression.ts';
import { ExpressionError } from './expression-error.ts';
import { parseMoment } from './moments.ts';
import { BOOLEAN, NUMBER, nullableIf } from './value-type.ts';

/** An expression and where its text starts, for complaints. */
export interface Placed {
  value: Expression;
  at: number;
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** The number a text spells in full, if it does. */
export function parseNumber(text: string): number | bigint | undefined {
  if (!DECIMAL.test(text)) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  if (Number.isSafeInteger(value) || !/^[+-]?\d{1,20}$/.test(text)) return value;
  const exact = BigInt(text.replace('+', ''));
  return exact >= -(2n ** 63n) && exact < 2n ** 64n ? exact : value;
}

const isLiteral = (expression: Expression): expression is Literal => expression.node === 'literal';
const COMPARABLE = new Set(['text', 'number', 'boolean', 'time']);

/** Makes two sides comparable: numbers with numbers, times with times. A text beside a number is read as a number. */
export function unify(left: Placed, right: Placed): [Expression, Expression] {
  for (const side of [left, right]) {
    if (isNullLiteral(side.value))
      throw new ExpressionError('Nothing equals NULL; use IS NULL or IS NOT NULL', side.at);
    if (!COMPARABLE.has(kindOf(side.value)))
      throw new ExpressionError('Only texts, numbers, times and booleans can be compared', side.at);
  }
  const [one, two] = [kindOf(left.value), kindOf(right.value)];
  if (one === two || (isNumeric(one) && isNumeric(two))) return [left.value, right.value];
  return isLiteral(right.value) || !isLiteral(left.value)
    ? adapt(left, right)
    : (adapt(right, left).reverse() as [Expression, Expression]);
}

const isNumeric = (kind: string) => kind === 'number' || kind === 'boolean';

/** Their kinds differ. When one is a literal it is `right`, and becomes what the other needs. */
function adapt(left: Placed, right: Placed): [Expression, Expression] {
  const kinds = `${kindOf(left.value)} ${kindOf(right.value)}`;
  if (kinds === 'text number') return [asNumber(left.value), right.value];
  if (kinds === 'text boolean' && isLiteral(right.value)) return [left.value, textLiteral(String(right.value.value))];
  if (isLiteral(right.value) && kindOf(right.value) === 'text') {
    return [left.value, fitText(String(right.value.value), kindOf(left.value), right.at)];
  }
  if (kinds === 'number text') return [left.value, asNumber(right.value)];
  throw new ExpressionError(`A ${kindOf(right.value)} cannot be compared with a ${kindOf(left.value)}`, right.at);
}

/** A quoted literal beside something that is no text. */
function fitText(text: string, kind: string, at: number): Literal {
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

export function compare(operator: ComparisonOperator, one: Placed, two: Placed): Expression {
  const [left, right] = unify(one, two);
  return {
    node: 'comparison',
    operator,
    left,
    right,
    type: nullableIf(isNullable(left) || isNullable(right), BOOLEAN),
  };
}

/** One operand against several others, all of one kind. */
function unifyAll(operand: Placed, others: readonly Placed[]): [Expression, Expression[]] {
  let value = operand.value;
  const rest = others.map((other, index) => {
    const [left, right] = unify({ value, at: operand.at }, other);
    if (index > 0 && left !== value) throw new ExpressionError('These values must all be of one kind', other.at);
    value = left;
    return right;
  });
  return [value, rest];
}

export function isIn(operand: Placed, values: readonly (Placed & { value: Literal })[]): Expression {
  const [value, rest] = unifyAll(operand, values);
  if (kindOf(value) === 'time') return isOneOfTimes({ value, at: operand.at }, rest);
  return { node: 'in', operand: value, values: rest.filter(isLiteral), type: nullableIf(isNullable(value), BOOLEAN) };
}

/** The engine finds no dates in a list of times, so each is compared; only what cannot grow is written that often. */
function isOneOfTimes(operand: Placed, times: readonly Expression[]): Expression {
  if (operand.value.node !== 'column' && times.length > 1)
    throw new ExpressionError('A list of times goes with a column; compare this with each time', operand.at);
  return logical(
    'OR',
    times.map((time) => compare('=', operand, { value: time, at: operand.at })),
  );
}

export function between(operand: Placed, low: Placed, high: Placed): Expression {
  const [value, [from = low.value, to = high.value]] = unifyAll(operand, [low, high]);
  const type = nullableIf([value, from, to].some(isNullable), BOOLEAN);
  return { node: 'between', operand: value, low: from, high: to, type };
}

export function like(operand: Expression, pattern: string, ignoreCase: boolean): Expression {
  return { node: 'like', operand, pattern, ignoreCase, type: nullableIf(isNullable(operand), BOOLEAN) };
}

/** What may stand where a condition is wanted; a number counts as true when it is not 0. */
export function condition({ value, at }: Placed): Expression {
  if (kindOf(value) === 'boolean') return value;
  if (kindOf(value) === 'number') return compare('!=', { value, at }, { value: numberLiteral(0), at });
  throw new ExpressionError('A condition is wanted here, such as a comparison', at);
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

export function minus({ value, at }: Placed): Expression {
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

export function arithmetic(operator: ArithmeticOperator, one: Placed, two: Placed): Expression {
  if (kindOf(one.value) === 'time') return shift(operator, one, two);
  const left = numeric(one);
  const right = operator === '%' ? divisor(numeric(two)) : numeric(two);
  return { node: 'arithmetic', operator, left, right, type: nullableIf(isNullable(left) || isNullable(right), NUMBER) };
}

function shift(operator: ArithmeticOperator, { value: left }: Placed, { value: right, at }: Placed): Expression {
  if (!isInterval(right) || (operator !== '+' && operator !== '-'))
    throw new ExpressionError(
      'To a time only an interval can be added, such as INTERVAL 1 HOUR; see also dateDiff',
      at,
    );
  return { node: 'arithmetic', operator, left, right, type: nullableIf(isNullable(right), left.type) };
}

/** The engine refuses a whole query for one remainder of a division by 0; NULL is skipped instead. */
function divisor(value: Expression): Expression {
  if (isLiteral(value) && value.value !== 0) return value;
  const [operand, by] = value.node === 'call' && value.name === 'nullIf' ? value.operands : [];
  if (operand && by?.node === 'literal' && by.value === 0) return value;
  return { ...call('nullIf', [value, numberLiteral(0)], NUMBER), type: { kind: 'number', nullable: true } };
}

function numeric({ value, at }: Placed): Expression {
  const kind = kindOf(value);
  if (kind === 'number') return value;
  if (kind === 'text') return asNumber(value);
  throw new ExpressionError('A number is wanted here', at);
}
