import { AGGREGATES, COMBINATORS } from './aggregates.ts';
import { toLookup } from './names.ts';
import { type Part, readParts } from './parts.ts';
import { TYPES } from './words.ts';

/** What the first argument of some functions must be: ClickHouse evaluates expressions in it, whatever the privileges are. */
interface ArgumentRule {
  names: readonly string[];
  /** Part of a message. */
  needed: string;
  isPermitted(first: Part, parts: readonly Part[], index: number): boolean;
}

const aggregates = toLookup(AGGREGATES);
const types = toLookup(TYPES);
const combinators = toLookup(COMBINATORS);

/** A name is read once for each combinator that it ends with. */
const MAX_AGGREGATE_CHARACTERS = 200;

/** Also with combinators, such as `sumIf`. Takes the name in lower case. */
export function isAggregate(name: string): boolean {
  if (aggregates.has(name)) return true;
  if (name.length > MAX_AGGREGATE_CHARACTERS) return false;
  for (const suffix of combinators)
    if (name.length > suffix.length && name.endsWith(suffix) && isAggregate(name.slice(0, -suffix.length))) return true;
  return false;
}

/** `name`, or `name(parameters)` with numbers and texts only. */
const AGGREGATE_TEXT = /^([A-Za-z_][A-Za-z0-9_]*)\s*(?:\((?:[\s\d.,+-]|'[^'\\]*')*\))?$/;

function isAggregateText({ kind, raw, value }: Part): boolean {
  const [, name] = kind === 'text' && !raw.includes('\\') ? (AGGREGATE_TEXT.exec(value) ?? []) : [];
  return name !== undefined && isAggregate(name.toLowerCase());
}

/** A list of columns with their types, and nothing else: no expressions. */
export function isColumnList(text: string): boolean {
  if (text.includes('\\')) return false;
  const parts = tryReadParts(text);
  for (let at = 0; ; at++) {
    const end = readColumn(parts, at);
    if (end === undefined) return false;
    at = end;
    if (at === parts.length) return true;
    if (parts[at]?.raw !== ',') return false;
  }
}

function tryReadParts(text: string): readonly Part[] {
  try {
    return readParts(text);
  } catch {
    return [];
  }
}

const isName = (part: Part | undefined): boolean => part?.kind === 'word' || part?.kind === 'quoted';

/** The index after a column that starts at `at`. */
function readColumn(parts: readonly Part[], at: number): number | undefined {
  if (!isName(parts[at]) || !isType(parts[at + 1])) return undefined;
  const open = parts[at + 2];
  if (open?.raw !== '(') return at + 2;
  if (open.closing === undefined) return undefined;
  for (let index = at + 3; index < open.closing; index++) {
    const part = parts[index];
    const isCall = parts[index + 1]?.raw === '(';
    if (!part || (part.kind === 'symbol' && !/^[(),.=-]$/.test(part.raw))) return undefined;
    if (isCall && part.kind !== 'symbol' && !isType(part) && !isAggregate(part.value.toLowerCase())) return undefined;
  }
  return open.closing + 1;
}

const isType = (part: Part | undefined): boolean => part?.kind === 'word' && types.has(part.value.toLowerCase());

const isPlain = ({ kind, raw }: Part): boolean => kind === 'text' && !raw.includes('\\');

/** Whether the argument that starts at `index` ends with the part at `last`. */
const isAlone = (parts: readonly Part[], last: number): boolean => /^[,)]$/.test(parts[last + 1]?.raw ?? '');

/** A row, such as `(1, 'a')`: parentheses around one text would only be that text. */
const isRow = (parts: readonly Part[], { raw, closing, commas }: Part): boolean =>
  raw === '(' && closing !== undefined && commas > 0 && isAlone(parts, closing);

/** `(VALUES (1, 'a'), (2, 'b'))`, with the first row at `index`: the values of standard SQL, which have no list of columns. */
function isRowsOnly(parts: readonly Part[], index: number): boolean {
  let end = parts[index]?.closing;
  while (end !== undefined && parts[end + 1]?.raw === ',' && parts[end + 2]?.raw === '(') end = parts[end + 2]?.closing;
  const around = parts[index - 2];
  return around?.raw === '(' && end !== undefined && around.closing === end + 1;
}

const isColumns = (first: Part, parts: readonly Part[], index: number): boolean =>
  isPlain(first) && isAlone(parts, index) && isColumnList(first.value);

const isNumber = (first: Part, parts: readonly Part[], index: number): boolean =>
  first.kind === 'number' && isAlone(parts, index);

export const ARGUMENT_RULES: readonly ArgumentRule[] = [
  {
    names: ['generateRandom', 'null', 'structureToCapnProtoSchema', 'structureToProtobufSchema'],
    needed: 'a list of columns with their types as text, without expressions',
    isPermitted: (first, parts, index) =>
      first.raw === ')' || isNumber(first, parts, index) || isColumns(first, parts, index),
  },
  {
    names: ['values'],
    needed: 'a list of columns with their types as text, without expressions, or a row',
    isPermitted: (first, parts, index) =>
      isNumber(first, parts, index) ||
      isRow(parts, first) ||
      isRowsOnly(parts, index - 1) ||
      isColumns(first, parts, index),
  },
  {
    // The table function of this name takes the name of a format.
    names: ['format'],
    needed: "a pattern as text, such as '{} of {}'; the table function of this name is for those who may write",
    isPermitted: (first, parts, index) => first.kind === 'text' && isAlone(parts, index) && !/^\w*$/.test(first.value),
  },
  {
    names: ['arrayReduce', 'arrayReduceInRanges', 'initializeAggregation'],
    needed: 'the name of an aggregate function as text, with numbers and texts as its parameters',
    isPermitted: (first, parts, index) => isAggregateText(first) && isAlone(parts, index),
  },
];
