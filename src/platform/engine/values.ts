type Convert = (value: unknown) => unknown;

/**
 * Finds the conversion for JSON values of a column type: 64-bit integers arrive as strings and become numbers if they are
 * safe integers. Undefined if the values need no conversion.
 */
export function findConversion(type: string): Convert | undefined {
  const [, name = type, inner = ''] = /^(\w+)(?:\(([\s\S]*)\))?$/.exec(type.trim()) ?? [];
  if (/^U?Int(64|128|256)$/.test(name)) return toInteger;
  if (name === 'Nullable' || name === 'LowCardinality') return findConversion(inner);
  if (name === 'SimpleAggregateFunction') return findConversion(splitArguments(inner)[1] ?? '');
  if (name === 'Array') {
    const convert = findConversion(inner);
    return convert && ((value) => (Array.isArray(value) ? value.map(convert) : value));
  }
  if (name === 'Map') {
    const convert = findConversion(splitArguments(inner)[1] ?? '');
    return convert && ((value) => mapValues(value, () => convert));
  }
  return name === 'Tuple' ? tupleConversion(inner) : undefined;
}

/** `Tuple(a UInt64, b String)` arrives as an object, `Tuple(UInt64, String)` as an array. */
function tupleConversion(inner: string): Convert | undefined {
  const parts = splitArguments(inner).map((part) => {
    const [, quoted, plain, rest] = /^(?:`((?:[^`\\]|\\.)*)`|(\w+))\s+(\S[\s\S]*)$/.exec(part) ?? [];
    return { name: quoted ?? plain, convert: findConversion(rest ?? part) };
  });
  if (parts.every(({ convert }) => !convert)) return undefined;
  const byName = new Map(parts.map(({ name, convert }) => [name, convert]));
  return (value) =>
    Array.isArray(value)
      ? value.map((item, index) => parts[index]?.convert?.(item) ?? item)
      : mapValues(value, (name) => byName.get(name));
}

function mapValues(value: unknown, findConvert: (name: string) => Convert | undefined): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, findConvert(name)?.(item) ?? item]));
}

function toInteger(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Splits at commas outside parentheses and quotes. */
function splitArguments(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: mark, index } of text.matchAll(/'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|[(),]/g)) {
    if (mark === '(') depth++;
    else if (mark === ')') depth--;
    else if (mark === ',' && depth === 0) {
      parts.push(text.slice(start, index).trim());
      start = index + 1;
    }
  }
  parts.push(text.slice(start).trim());
  return parts;
}

/** Converts the values of the rows in place. */
export function convertRows(types: readonly string[], rows: unknown[][]): unknown[][] {
  const conversions = types.map(findConversion);
  for (const [index, convert] of conversions.entries()) {
    if (!convert) continue;
    for (const row of rows) row[index] = convert(row[index]);
  }
  return rows;
}
