export type Kind = 'string' | 'number' | 'boolean' | 'time' | 'map' | 'array' | 'other';

/** The properties of a ClickHouse type that determine the allowed operations. */
export interface ValueType {
  readonly kind: Kind;
  /** May be NULL. */
  readonly nullable: boolean;
  /** The element type of an array, or the value type of a map with string keys. */
  readonly element?: ValueType;
  /** Is read as a string but has another type (Enum, UUID), so it needs toString. */
  readonly needsToString?: boolean;
  /** A date without a time of day. */
  readonly isDay?: boolean;
}

const plain = (kind: Kind): ValueType => ({ kind, nullable: false });

export const TEXT = plain('string');
export const NUMBER = plain('number');
export const BOOLEAN = plain('boolean');
export const TIME = plain('time');
export const DAY: ValueType = { ...TIME, isDay: true };
export const OTHER = plain('other');

export function arrayType(element: ValueType): ValueType {
  return { kind: 'array', nullable: false, element };
}

export function nullable(type: ValueType): ValueType {
  return type.nullable ? type : { ...type, nullable: true };
}

export function nullableIf(condition: boolean, type: ValueType): ValueType {
  return condition ? nullable(type) : type;
}

const NUMBERS = /^(U?Int(8|16|32|64|128|256)|B?Float(16|32|64)|Decimal(32|64|128|256)?)$/;
const TIMES = /^(DateTime|DateTime64)$/;
const DAYS = /^(Date|Date32)$/;
const READ_AS_STRING = /^(FixedString|Enum|Enum8|Enum16|UUID|IPv4|IPv6)$/;
/** More than any telemetry table needs. */
const MAX_DEPTH = 8;

/** Reads a type as ClickHouse spells it, such as `Map(LowCardinality(String), String)`. Unknown types are `other`. */
export function parseType(text: string, depth = 0): ValueType {
  const open = text.indexOf('(');
  const name = (open < 0 ? text : text.slice(0, open)).trim();
  const inner = open < 0 || !text.trimEnd().endsWith(')') ? '' : text.trimEnd().slice(open + 1, -1);
  if (depth > MAX_DEPTH) return OTHER;
  if (name === 'String') return TEXT;
  if (name === 'Bool') return BOOLEAN;
  if (NUMBERS.test(name)) return NUMBER;
  if (TIMES.test(name)) return TIME;
  if (DAYS.test(name)) return DAY;
  if (READ_AS_STRING.test(name)) return { ...TEXT, needsToString: true };
  if (name === 'LowCardinality') return parseType(inner, depth + 1);
  if (name === 'Nullable') return nullable(parseType(inner, depth + 1));
  if (name === 'Array') return arrayType(parseElement(inner, depth + 1));
  if (name === 'Map') return parseMap(inner, depth + 1);
  return OTHER;
}

/** Elements are not converted by toString, so such types are unknown here. */
function parseElement(text: string, depth: number): ValueType {
  const type = parseType(text.trim(), depth);
  return type.needsToString ? OTHER : type;
}

function parseMap(inner: string, depth: number): ValueType {
  const comma = topLevelComma(inner);
  if (comma < 0) return OTHER;
  const key = parseType(inner.slice(0, comma).trim(), depth);
  if (key.kind !== 'string' || key.needsToString) return OTHER;
  return { kind: 'map', nullable: false, element: parseElement(inner.slice(comma + 1).trim(), depth) };
}

function topLevelComma(text: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === ',' && depth === 0) return at;
  }
  return -1;
}
