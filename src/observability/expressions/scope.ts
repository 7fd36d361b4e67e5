import { memoize } from '../../kernel/memo.ts';
import { type Column, ORGANIZATION_COLUMN } from '../../platform/engine/engine.ts';
import { call, type Expression } from './expression.ts';
import { UnknownColumnError, visible } from './expression-error.ts';
import { findNearest } from './nearest-name.ts';
import { parseType, TEXT } from './value-type.ts';

/** The columns that an expression may use. */
export interface Scope {
  columns: readonly Column[];
  /** The column that words without a field search. */
  implicitColumn?: string;
}

const parseTypeOnce = memoize((type) => parseType(type));

/** The value of a column. Types such as Enum and UUID are converted to strings. */
function columnReference(column: Column): Expression {
  const { needsToString, ...type } = parseTypeOnce(column.type);
  const reference: Expression = { node: 'column', name: column.name, type };
  return needsToString ? call('toString', [reference], TEXT) : reference;
}

export function mapEntry(map: Expression, key: string): Expression {
  return { node: 'entry', map, key, type: map.type.element ?? TEXT };
}

interface ResolvedPath {
  /** The column, or the start of the path that is one. */
  value: Expression;
  /** The rest of the path, joined by dots. */
  rest: string | undefined;
}

/** A dotted path: a column of exactly that name, or the longest start of it that is one. */
export function findPath(scope: Scope, path: string): ResolvedPath | undefined {
  let longest: Column | undefined;
  for (const column of scope.columns) {
    const { name } = column;
    if (name === ORGANIZATION_COLUMN || !path.startsWith(name)) continue;
    if (path.length !== name.length && path[name.length] !== '.') continue;
    if (!longest || name.length > longest.name.length) longest = column;
  }
  if (!longest) return undefined;
  const { length } = longest.name;
  return { value: columnReference(longest), rest: path.length === length ? undefined : path.slice(length + 1) };
}

/** The column or map attribute of a dotted path. */
export function resolvePath(scope: Scope, path: string, position: number): Expression {
  const found = findPath(scope, path);
  if (!found) throw unknownColumn(scope, path, position);
  const { value, rest } = found;
  if (rest === undefined) return value;
  if (value.type.kind === 'map') return mapEntry(value, rest);
  throw new UnknownColumnError(`Unknown column ${quoted(path)}; only maps have attributes`, position);
}

export function unknownColumn(scope: Scope, name: string, position: number): UnknownColumnError {
  const near = findNearColumn(scope, name);
  const hint = near === undefined ? '' : `; did you mean ${quoted(near)}?`;
  return new UnknownColumnError(`Unknown column ${quoted(name)}${hint}`, position);
}

/** The column with this name, or the one with the most similar name. */
export function findNearColumn(scope: Scope, name: string): string | undefined {
  const names = scope.columns.map((column) => column.name);
  return findNearest(
    name,
    names.filter((known) => known !== ORGANIZATION_COLUMN),
  );
}

const MAX_QUOTED_CHARACTERS = 64;

/** Quotes a name for an error: on one line, truncated if long. */
export function quoted(name: string): string {
  return name.length > MAX_QUOTED_CHARACTERS
    ? `"${visible(name.slice(0, MAX_QUOTED_CHARACTERS))}…"`
    : `"${visible(name)}"`;
}
