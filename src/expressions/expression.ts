import { type Kind, nullable, nullableIf, type ValueType } from './value-type.ts';

/**
 * What is left of a user's text once it is understood: known columns, literals as values, operators and allowed
 * functions. Nothing in it is SQL text, and nothing in it changes once it is made.
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

/** Whatever element of its array a `some` is looking at. */
interface Item {
  readonly node: 'item';
  readonly type: ValueType;
}

/** True when the test holds for at least one element. Lucene on arrays; SQL text cannot make one. */
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
  /** `%` any characters, `_` one, `\` before either of them or itself takes it literally. */
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

export function kindOf(expression: Expression): Kind {
  return expression.type.kind;
}

export function isNullable(expression: Expression): boolean {
  return expression.type.nullable;
}

export const NULL: Literal = { node: 'literal', value: null, type: { kind: 'other', nullable: true } };

export function isNullLiteral(expression: Expression): boolean {
  return expression.node === 'literal' && expression.value === null;
}

const LITERAL_TYPES: Record<'text' | 'number' | 'boolean' | 'time', ValueType> = {
  text: { kind: 'text', nullable: false },
  number: { kind: 'number', nullable: false },
  boolean: { kind: 'boolean', nullable: false },
  time: { kind: 'time', nullable: false },
};

export function textLiteral(value: string): Literal {
  return { node: 'literal', value, type: LITERAL_TYPES.text };
}

export function numberLiteral(value: number | bigint): Literal {
  // Minus zero is zero: an integer column cannot tell them apart.
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

/** The number that a text spells, NULL when it spells none: what is missing is never 0. */
export function asNumber(expression: Expression): Expression {
  if (kindOf(expression) !== 'text') return expression;
  return {
    node: 'call',
    name: 'toFloat64OrNull',
    operands: [expression],
    type: nullable(LITERAL_TYPES.number),
  };
}
