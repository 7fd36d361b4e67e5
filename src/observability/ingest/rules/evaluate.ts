import type { Expression, Literal } from '../../expressions/expression.ts';
import { ExpressionError } from '../../expressions/expression-error.ts';
import { FUNCTIONS, isText, toBytes } from './functions.ts';
import { compileLike } from './like.ts';
import type { RowReader } from './row-reader.ts';
import type { Evaluate, MapEntries, Value } from './value.ts';

/**
 * Compiles a condition to a function of the row that `reader` is at. It has the result that the engine would have. What the engine computes in a way
 * that this cannot repeat exactly, such as times, arithmetic and regular expressions, is an ExpressionError.
 */
export function compile(expression: Expression, reader: RowReader): Evaluate {
  const build = (one: Expression): Evaluate => compile(one, reader);
  switch (expression.node) {
    case 'literal':
      return constant(toValue(expression));
    case 'column':
      return column(expression.name, expression.type.kind, reader);
    case 'entry': {
      const [map, key] = [build(expression.map), toBytes(expression.key)];
      return (item) => findEntry(map(item) as MapEntries, key) ?? '';
    }
    case 'item':
      return (item) => item;
    case 'some': {
      const [array, test] = [build(expression.array), build(expression.test)];
      return (item) => (array(item) as readonly string[]).some((element) => test(element) === true);
    }
    case 'comparison':
      return compare(expression.operator, build(expression.left), build(expression.right));
    case 'between': {
      const [value, low, high] = [build(expression.operand), build(expression.low), build(expression.high)];
      return and([compare('>=', value, low), compare('<=', value, high)]);
    }
    case 'like': {
      const [value, matches] = [build(expression.operand), compileLike(expression.pattern, expression.ignoreCase)];
      return ifPresent(value, (text) => matches(text as string));
    }
    case 'in': {
      const value = build(expression.operand);
      const values = new Set(expression.values.map((literal) => toComparable(toValue(literal))));
      return ifPresent(value, (found) => values.has(toComparable(found)));
    }
    case 'logical':
      return (expression.operator === 'AND' ? and : or)(expression.operands.map(build));
    case 'not':
      return ifPresent(build(expression.operand), (value) => value !== true);
    case 'call': {
      const apply = FUNCTIONS[expression.name];
      if (!apply) throw unsupported(`the function ${expression.name}`);
      // The text of other numbers depends on the engine.
      if (expression.name === 'toString' && expression.operands[0]?.node !== 'column')
        throw unsupported('toString of anything but a column');
      return apply(expression.operands.map(build));
    }
    default:
      throw unsupported('arithmetic and elements of arrays');
  }
}

const unsupported = (what: string): ExpressionError => new ExpressionError(`A rule cannot use ${what}`, 0);

const constant =
  (value: Value): Evaluate =>
  () =>
    value;

function column(name: string, kind: string, reader: RowReader): Evaluate {
  const index = reader.indexOf(name);
  if (kind === 'time') throw unsupported(`times, such as ${name}`);
  return () => reader.read(index) as Value;
}

function toValue({ value, type }: Literal): Value {
  if (type.kind === 'time') throw unsupported('times');
  return isText(value) ? toBytes(value) : value;
}

/** The first entry of a key, as the engine finds it. */
const findEntry = (entries: MapEntries, key: string): string | undefined =>
  entries.find(([found]) => found === key)?.[1];

const ifPresent =
  (value: Evaluate, apply: (value: Value) => Value): Evaluate =>
  (item) => {
    const found = value(item);
    return found === null ? null : apply(found);
  };

/** Equal numbers are one, whether they are bigints or not. */
const toComparable = (value: Value): Value =>
  typeof value === 'bigint' && BigInt(Number(value)) === value
    ? Number(value)
    : typeof value === 'boolean'
      ? Number(value)
      : value;

function compare(operator: string, left: Evaluate, right: Evaluate): Evaluate {
  const test = TESTS[operator] as (left: Value, right: Value) => boolean;
  return (item) => {
    const [one, two] = [left(item), right(item)];
    return one === null || two === null ? null : test(toComparable(one), toComparable(two));
  };
}

/** Of strings with a character for each byte, and of numbers. */
const TESTS: Readonly<Record<string, (left: never, right: never) => boolean>> = {
  '=': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
};

/** False if one is false, otherwise NULL if one is NULL. */
function and(conditions: readonly Evaluate[]): Evaluate {
  return (item) => {
    let result: Value = true;
    for (const condition of conditions) {
      const value = condition(item);
      if (value === false) return false;
      if (value === null) result = null;
    }
    return result;
  };
}

/** True if one is true, otherwise NULL if one is NULL. */
function or(conditions: readonly Evaluate[]): Evaluate {
  return (item) => {
    let result: Value = false;
    for (const condition of conditions) {
      const value = condition(item);
      if (value === true) return true;
      if (value === null) result = null;
    }
    return result;
  };
}
