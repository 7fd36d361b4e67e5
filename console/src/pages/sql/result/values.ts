/** A column of a result. */
export interface ResultColumn {
  name: string;
  /** As ClickHouse names it. */
  type: string;
  kind: 'number' | 'time' | 'nested' | 'text';
}

export type ResultRow = readonly unknown[];

/** `LowCardinality(Nullable(String))` → `String`. */
function unwrapType(type: string): string {
  const [, inner] = /^(?:Nullable|LowCardinality)\((.*)\)$/s.exec(type) ?? [];
  return inner === undefined ? type : unwrapType(inner);
}

export function toColumn({ name, type }: { name: string; type: string }): ResultColumn {
  return { name, type, kind: getKind(unwrapType(type)) };
}

function getKind(type: string): ResultColumn['kind'] {
  if (/^(U?Int\d+|B?Float\d+|Decimal)/.test(type)) return 'number';
  if (/^Date(32|Time|Time64)?\b/.test(type)) return 'time';
  return /^(Array|Map|Tuple|Nested|JSON|Object|Variant|Dynamic)\b/.test(type) ? 'nested' : 'text';
}

/** On one line. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** With line breaks and indentation. Text that is JSON is indented too. */
export function formatWhole(value: unknown): string {
  if (typeof value === 'object' && value !== null) return JSON.stringify(value, null, 2);
  if (typeof value === 'string' && /^\s*[[{]/.test(value))
    try {
      return JSON.stringify(JSON.parse(value), null, 2);
    } catch {
      return value;
    }
  return formatValue(value);
}

/** Columns with the same name keep their values: the second is `name (2)`. */
export function toRecord(columns: readonly ResultColumn[], row: ResultRow): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [index, { name }] of columns.entries()) {
    let unique = name;
    for (let count = 2; unique in record; count += 1) unique = `${name} (${count})`;
    record[unique] = row[index];
  }
  return record;
}

export interface ResultOrder {
  column: number;
  isDescending: boolean;
}

/** The indexes of the rows in an order; NULL is last. Equal rows keep their order. */
export function orderRows(
  rows: readonly ResultRow[],
  count: number,
  columns: readonly ResultColumn[],
  order: ResultOrder | undefined,
): Uint32Array {
  const indexes = new Uint32Array(count).map((_, index) => index);
  const column = order && columns[order.column];
  if (!order || !column) return indexes;
  const sign = order.isDescending ? -1 : 1;
  const compare = column.kind === 'number' ? compareNumbers : compareTexts;
  const values = rows.map((row) => row[order.column]);
  return indexes.sort((a, b) => {
    const [one, other] = [values[a], values[b]];
    const isMissing = one === null || one === undefined;
    if (isMissing !== (other === null || other === undefined)) return isMissing ? 1 : -1;
    return (isMissing ? 0 : sign * compare(one, other)) || a - b;
  });
}

/** Large integers are texts. */
function compareNumbers(one: unknown, other: unknown): number {
  const [a, b] = [Number(one), Number(other)];
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  if (a !== b) return a < b ? -1 : 1;
  const areIntegers = [one, other].every((value) => /^-?\d+$/.test(String(value)));
  if (!areIntegers || Number.isSafeInteger(a)) return 0;
  const [exact, exactOther] = [BigInt(String(one)), BigInt(String(other))];
  return exact < exactOther ? -1 : exact > exactOther ? 1 : 0;
}

function compareTexts(one: unknown, other: unknown): number {
  const [a, b] = [formatValue(one), formatValue(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}
