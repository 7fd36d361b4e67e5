import { type Column, ORGANIZATION_COLUMN } from '../engine/engine.ts';
import { memoize } from '../kernel/memo.ts';
import { call, type Expression } from './expression.ts';
import { ExpressionError, visible } from './expression-error.ts';
import { nearest } from './nearest.ts';
import { parseType, TEXT } from './value-type.ts';

/** What a user's text may speak of. */
export interface Scope {
  columns: readonly Column[];
  /** Where words without a field are looked for. */
  implicitColumn?: string;
}

const typeOf = memoize((type) => parseType(type));

/** The value of a column; what only looks like text (an Enum, a UUID) is made text. */
function referTo(column: Column): Expression {
  const { disguised, ...type } = typeOf(column.type);
  const reference: Expression = { node: 'column', name: column.name, type };
  return disguised ? call('toString', [reference], TEXT) : reference;
}

export function entryOf(map: Expression, key: string): Expression {
  return { node: 'entry', map, key, type: map.type.element ?? TEXT };
}

interface Resolved {
  /** The column, or the start of the path that is one. */
  value: Expression;
  /** What of the path follows that column, joined by dots. */
  rest: string | undefined;
}

/** A dotted path: a column of exactly that name, or the longest start of it that is one. */
export function findPath(scope: Scope, path: string): Resolved | undefined {
  let longest: Column | undefined;
  for (const column of scope.columns) {
    const { name } = column;
    if (name === ORGANIZATION_COLUMN || !path.startsWith(name)) continue;
    if (path.length !== name.length && path[name.length] !== '.') continue;
    if (!longest || name.length > longest.name.length) longest = column;
  }
  if (!longest) return undefined;
  const { length } = longest.name;
  return { value: referTo(longest), rest: path.length === length ? undefined : path.slice(length + 1) };
}

/** The value a dotted path stands for: a column, or an attribute in a map. */
export function resolvePath(scope: Scope, path: string, position: number): Expression {
  const found = findPath(scope, path);
  if (!found) throw unknownColumn(scope, path, position);
  const { value, rest } = found;
  if (rest === undefined) return value;
  if (value.type.kind === 'map') return entryOf(value, rest);
  throw new ExpressionError(`There is no column ${quoted(path)}; only a map has attributes behind a dot`, position);
}

export function unknownColumn(scope: Scope, name: string, position: number): ExpressionError {
  const near = findNearColumn(scope, name);
  const hint = near === undefined ? '' : `; did you mean ${quoted(near)}?`;
  return new ExpressionError(`There is no column ${quoted(name)}${hint}`, position);
}

/** The column of that name, or of one that is almost the same. */
export function findNearColumn(scope: Scope, name: string): string | undefined {
  const names = scope.columns.map((column) => column.name);
  return nearest(
    name,
    names.filter((known) => known !== ORGANIZATION_COLUMN),
  );
}

const LONGEST_ECHO = 64;

/** A name in a message: on one line, cut when it is long. */
export function quoted(name: string): string {
  return name.length > LONGEST_ECHO ? `"${visible(name.slice(0, LONGEST_ECHO))}…"` : `"${visible(name)}"`;
}
