import { type Expression, getKind, isNullable, type Literal } from './expression.ts';

/** Writes expressions of one statement as ClickHouse SQL. Of the user's input, only column names are copied. */
export interface Writer {
  /** SQL of the expression; literals become bound parameters such as `{p1:String}`. */
  write(expression: Expression): string;
  /** As a number or NULL, so that missing values are skipped and never count as 0. */
  writeNumber(expression: Expression): string;
  /** As text, for the label of a group. */
  writeText(expression: Expression): string;
  /** A condition that the expression has a value: its attributes exist and it is not NULL. Undefined if always true. */
  writePresence(expression: Expression): string | undefined;
  /** Binds a value and returns its placeholder, such as `{p7:UInt32}`. Equal values share one. */
  bind(value: unknown, type: string): string;
  readonly parameters: Record<string, unknown>;
}

export function createWriter(): Writer {
  const parameters: Record<string, unknown> = {};
  const places = new Map<string, string>();

  function bind(value: unknown, type: string): string {
    const key = `${type} ${typeof value} ${typeof value === 'object' ? JSON.stringify(value) : value}`;
    const known = places.get(key);
    if (known !== undefined) return known;
    const name = `p${places.size + 1}`;
    parameters[name] = value;
    const placeholder = `{${name}:${type}}`;
    places.set(key, placeholder);
    return placeholder;
  }

  function write(expression: Expression): string {
    switch (expression.node) {
      case 'literal':
        return writeLiteral(expression);
      case 'column':
        return quoteName(expression.name);
      case 'entry':
        return `${write(expression.map)}[${bind(expression.key, 'String')}]`;
      case 'element':
        return `${write(expression.array)}[${write(expression.index)}]`;
      case 'item':
        return ITEM;
      case 'some':
        return `arrayExists(${ITEM} -> ${write(expression.test)}, ${write(expression.array)})`;
      case 'minus':
        return `(-${write(expression.operand)})`;
      case 'arithmetic':
      case 'comparison':
        return `(${write(expression.left)} ${expression.operator} ${write(expression.right)})`;
      case 'like':
        return `(${write(expression.operand)} ${expression.ignoreCase ? 'ILIKE' : 'LIKE'} ${bind(expression.pattern, 'String')})`;
      case 'in':
        return `(${write(expression.operand)} IN ${writeList(expression.values)})`;
      case 'between':
        return `(${write(expression.operand)} BETWEEN ${write(expression.low)} AND ${write(expression.high)})`;
      case 'logical':
        return `(${expression.operands.map(write).join(` ${expression.operator} `)})`;
      case 'not':
        return `(NOT ${write(expression.operand)})`;
      case 'call':
        return `${expression.name}(${expression.operands.map(write).join(', ')})`;
    }
  }

  function writeLiteral(literal: Literal): string {
    if (literal.value === null) return 'NULL';
    if (typeof literal.value === 'boolean') return String(literal.value);
    // Sent as a string, because a JSON number would be rounded.
    return bind(isUnsafe(literal) ? String(literal.value) : literal.value, engineType(literal));
  }

  /** One parameter for the whole list, unless it contains integers that JSON would round. */
  function writeList(values: readonly Literal[]): string {
    if (values.some(isUnsafe) || typeof values[0]?.value === 'boolean')
      return `(${values.map(writeLiteral).join(', ')})`;
    const numbers = values.map(({ value }) => value).filter((value) => typeof value === 'number');
    const number = numbers.every(Number.isSafeInteger) ? 'Int64' : 'Float64';
    const [first] = values;
    const type = first && typeof first.value !== 'number' ? engineType(first) : number;
    return bind(
      values.map(({ value }) => value),
      `Array(${type})`,
    );
  }

  function writeNumber(expression: Expression): string {
    const kind = getKind(expression);
    if (kind === 'string') return `toFloat64OrNull(${write(expression)})`;
    if (kind === 'number') return write(expression);
    if (kind === 'boolean') return `toUInt8(${write(expression)})`;
    if (kind === 'time') return `toFloat64(${write(expression)})`;
    return `toFloat64OrNull(toString(${write(expression)}))`;
  }

  function writeText(expression: Expression): string {
    return getKind(expression) === 'string' ? write(expression) : `toString(${write(expression)})`;
  }

  function writePresence(expression: Expression): string | undefined {
    const conditions = listMapEntries(expression).map(
      ({ map, key }) => `mapContains(${write(map)}, ${bind(key, 'String')})`,
    );
    if (isNullable(expression)) conditions.push(`isNotNull(${write(expression)})`);
    const unique = [...new Set(conditions)];
    return unique.length > 1 ? `(${unique.join(' AND ')})` : unique[0];
  }

  return { write, writeNumber, writeText, writePresence, bind, parameters };
}

/** Cannot clash with a column: the test of a `some` only uses its item. */
const ITEM = '_item';

/** Functions that return a value even if an operand is missing. */
const NULL_TOLERANT = new Set(['if', 'multiIf', 'coalesce', 'isNull', 'isNotNull', 'mapContains', 'empty', 'notEmpty']);

/** The map entries that the expression needs to have a value. */
function listMapEntries(expression: Expression): Extract<Expression, { node: 'entry' }>[] {
  switch (expression.node) {
    case 'entry':
      return [...listMapEntries(expression.map), expression];
    case 'element':
      return listMapEntries(expression.array);
    case 'minus':
      return listMapEntries(expression.operand);
    case 'arithmetic':
      return [...listMapEntries(expression.left), ...listMapEntries(expression.right)];
    case 'call':
      return NULL_TOLERANT.has(expression.name) ? [] : expression.operands.flatMap(listMapEntries);
    default:
      return [];
  }
}

const UNSIGNED: readonly [string, number][] = [
  ['UInt8', 2 ** 8],
  ['UInt16', 2 ** 16],
  ['UInt32', 2 ** 32],
];
const SIGNED: readonly [string, number][] = [
  ['Int8', 2 ** 7],
  ['Int16', 2 ** 15],
  ['Int32', 2 ** 31],
];

/** The type that ClickHouse gives a literal. A wider one has no common type with some columns. */
function engineType({ value, type }: Literal): string {
  if (type.kind === 'time') return "DateTime64(9, 'UTC')";
  if (typeof value === 'boolean') return 'Bool';
  if (typeof value === 'bigint') return value < 0n ? 'Int64' : 'UInt64';
  if (typeof value !== 'number') return 'String';
  if (!Number.isSafeInteger(value)) return 'Float64';
  if (value < 0) return SIGNED.find(([, limit]) => -value <= limit)?.[0] ?? 'Int64';
  return UNSIGNED.find(([, limit]) => value < limit)?.[0] ?? 'UInt64';
}

/** An integer beyond 2^53. */
function isUnsafe({ value }: Literal): boolean {
  return typeof value === 'bigint' || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

/** Quotes an identifier for ClickHouse. */
export function quoteName(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
}
