import { type Kind, nullable, nullableIf, type ValueType } from './value-type.ts';

/**
 * A parsed expression: known columns, literal values, operators and allowed functions. Contains no SQL text and is
 * immutable.
 */
export type Expression =
  | Literal
  | ColumnReference
  | MapEntry
  | ArrayElement
  | Item
  | Some
  | Minus
  | Arithmetic
  | Comparison
  | Like
  | In
  | Between
  | Logical
  | Not
  | Call;

type LiteralValue = string | number | bigint | boolean | null;

export interface Literal {
  readonly node: 'literal';
  /** Of kind `time`: `2026-11-15 12:00:00.000000000`, UTC. */
  readonly value: LiteralValue;
  readonly type: ValueType;
}

interface ColumnReference {
  readonly node: 'column';
  readonly name: string;
  readonly type: ValueType;
}

/** `map['key']`. */
interface MapEntry {
  readonly node: 'entry';
  readonly map: Expression;
  readonly key: string;
  readonly type: ValueType;
}

/** `array[index]`, counted from 1. */
interface ArrayElement {
  readonly node: 'element';
  readonly array: Expression;
  readonly index: Expression;
  readonly type: ValueType;
}

/** The current element of the array of a `some`. */
interface Item {
  readonly node: 'item';
  readonly type: ValueType;
}

/** True if the test holds for at least one element. Only Lucene creates it. */
interface Some {
  readonly node: 'some';
  readonly array: Expression;
  readonly test: Expression;
  readonly type: ValueType;
}

interface Minus {
  readonly node: 'minus';
  readonly operand: Expression;
  readonly type: ValueType;
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%';

interface Arithmetic {
  readonly node: 'arithmetic';
  readonly operator: ArithmeticOperator;
  readonly left: Expression;
  readonly right: Expression;
  readonly type: ValueType;
}

export type ComparisonOperator = '=' | '!=' | '<' | '<=' | '>' | '>=';

interface Comparison {
  readonly node: 'comparison';
  readonly operator: ComparisonOperator;
  readonly left: Expression;
  readonly right: Expression;
  readonly type: ValueType;
}

interface Like {
  readonly node: 'like';
  readonly operand: Expression;
  /** `%` matches any characters, `_` one; `\` escapes. */
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly type: ValueType;
}

interface In {
  readonly node: 'in';
  readonly operand: Expression;
  /** All of one kind. */
  readonly values: readonly Literal[];
  readonly type: ValueType;
}

interface Between {
  readonly node: 'between';
  readonly operand: Expression;
  readonly low: Expression;
  readonly high: Expression;
  readonly type: ValueType;
}

interface Logical {
  readonly node: 'logical';
  readonly operator: 'AND' | 'OR';
  /** At least two. */
  readonly operands: readonly Expression[];
  readonly type: ValueType;
}

interface Not {
  readonly node: 'not';
  readonly operand: Expression;
  readonly type: ValueType;
}

/** A function of the allow-list. */
export interface Call {
  readonly node: 'call';
  readonly name: string;
  readonly operands: readonly Expression[];
  readonly type: ValueType;
}

export function getKind(expression: Expression): Kind {
  return expression.type.kind;
}

export function isNullable(expression: Expression): boolean {
  return expression.type.nullable;
}

export const NULL: Literal = { node: 'literal', value: null, type: { kind: 'other', nullable: true } };

export function isNullLiteral(expression: Expression): boolean {
  return expression.node === 'literal' && expression.value === null;
}

const LITERAL_TYPES: Record<'string' | 'number' | 'boolean' | 'time', ValueType> = {
  string: { kind: 'string', nullable: false },
  number: { kind: 'number', nullable: false },
  boolean: { kind: 'boolean', nullable: false },
  time: { kind: 'time', nullable: false },
};

export function textLiteral(value: string): Literal {
  return { node: 'literal', value, type: LITERAL_TYPES.string };
}

export function numberLiteral(value: number | bigint): Literal {
  // Integer columns have no minus zero.
  return { node: 'literal', value: value === 0 ? 0 : value, type: LITERAL_TYPES.number };
}

export function booleanLiteral(value: boolean): Literal {
  return { node: 'literal', value, type: LITERAL_TYPES.boolean };
}

/** `2026-11-15 12:00:00.000000000`, UTC. */
export function timeLiteral(value: string): Literal {
  return { node: 'literal', value, type: LITERAL_TYPES.time };
}

/** A call whose result may be NULL when an operand may. */
export function call(name: string, operands: readonly Expression[], type: ValueType): Call {
  return { node: 'call', name, operands, type: nullableIf(operands.some(isNullable), type) };
}

/** Parses strings as numbers: NULL if a string is not a number, so that a missing value never counts as 0. */
export function asNumber(expression: Expression): Expression {
  if (getKind(expression) !== 'string') return expression;
  return {
    node: 'call',
    name: 'toFloat64OrNull',
    operands: [expression],
    type: nullable(LITERAL_TYPES.number),
  };
}
