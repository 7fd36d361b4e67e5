import { AppError } from '../../../kernel/errors.ts';
import { ARGUMENT_RULES, isAggregate } from './arguments.ts';
import { FUNCTIONS } from './functions.ts';
import { toLookup } from './names.ts';
import { type Part, readParts } from './parts.ts';
import { REFUSED_FACTS, REFUSED_FUNCTIONS } from './refused.ts';
import { findRefusedKind, isMistyped, KINDS } from './statement-kind.ts';
import { REFUSED_TABLE_FUNCTIONS, TABLE_FUNCTIONS } from './table-functions.ts';
import { KEYWORDS, PARSER_FUNCTIONS, TYPES } from './words.ts';

/** ClickHouse knows them in this case only. */
const reasons = new Map(REFUSED_FUNCTIONS.flatMap(({ reason, names }) => names.map((name) => [name, reason] as const)));
const refused = toLookup([...reasons.keys(), ...REFUSED_FACTS]);
const permitted = toLookup([...FUNCTIONS, ...PARSER_FUNCTIONS, ...TABLE_FUNCTIONS, ...TYPES]);
const refusedTables = toLookup(REFUSED_TABLE_FUNCTIONS);
const keywords = toLookup(KEYWORDS);
const rules = new Map(ARGUMENT_RULES.flatMap((rule) => rule.names.map((name) => [name.toLowerCase(), rule] as const)));

/**
 * Throws unless a statement only reads: a known kind of statement that calls known functions. Grants keep a reader to its
 * tables, but ClickHouse evaluates functions and lists of columns before it looks at them, and needs none for some functions.
 */
export function checkReaderStatement(sql: string, parameters: Readonly<Record<string, string>> = {}): void {
  const parts = readParts(sql);
  const kind = findRefusedKind(parts);
  if (isMistyped(parts)) throw new AppError('bad_request', `Syntax error: ${kind}. A reader may run ${KINDS}`);
  if (kind !== undefined) throw refuse(`${kind}. A reader may run one statement: ${KINDS}`);
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index];
    if (part?.kind !== 'word' && part?.kind !== 'quoted') continue;
    // A column of a table, or a view with parameters: ClickHouse has no functions with such names.
    if (parts[index - 1]?.raw === '.') continue;
    // The name of a parameter.
    if (parts[index - 1]?.raw === '{' && parts[index + 1]?.raw === ':') continue;
    if (parts[index + 1]?.raw === '(') checkCall(part, parts, index);
    else if (part.value === 'Identifier') checkNames(parameters);
    else checkName(part.value);
  }
}

/** Functions can be passed to others by name, such as in `arrayMap(file, …)` and `APPLY file`. */
function checkName(name: string): void {
  const reason = reasons.get(name);
  if (reason !== undefined)
    throw refuse(`${name} is a function, and ${reason}. Write a column of that name with its table, such as t.${name}`);
}

function checkCall(part: Part, parts: readonly Part[], index: number): void {
  const name = part.value.toLowerCase();
  if (part.kind === 'word' && keywords.has(name)) return;
  const isRefused = refused.has(name) || refusedTables.has(name);
  const rule = rules.get(name);
  if (rule) {
    const first = parts[index + 2];
    if (first && rule.isPermitted(first, parts, index + 2)) return;
    throw refuse(`The first argument of ${part.value} must be ${rule.needed}`);
  }
  if (permitted.has(name) || isAggregate(name)) return;
  if (!isRefused && isAlias(parts, index)) return;
  throw refuse(describe(part, name, isRefused));
}

/** The name of a subquery with those of its columns: `AS t(a, b)`, `WITH t(a, b) AS (…)`. */
function isAlias(parts: readonly Part[], index: number): boolean {
  const isAs = (at: number) => parts[at]?.kind === 'word' && parts[at]?.value.toUpperCase() === 'AS';
  const { closing } = parts[index + 1] ?? {};
  return isAs(index - 1) || (closing !== undefined && isAs(closing + 1) && parts[closing + 2]?.raw === '(');
}

function describe({ value, position }: Part, name: string, isRefused: boolean): string {
  const place = `at position ${position}`;
  const reason = reasons.get(value);
  if (reason !== undefined) return `It calls ${value} ${place}, and ${reason}`;
  if (refusedTables.has(name))
    return `It calls ${value} ${place}. The table functions of a reader are ${TABLE_FUNCTIONS.join(', ')}`;
  if (isRefused) return `It calls ${value} ${place}, which is about the process or the machine`;
  return `It calls ${value.slice(0, 100)} ${place}, which is no function of ClickHouse that reads tables only. Functions of the service can be used in a view, and a view with parameters needs its database, such as db.${value.slice(0, 100)}(…)`;
}

/** The value of a parameter of the type Identifier can name a function. */
function checkNames(parameters: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(parameters))
    if (value.split(/[^A-Za-z0-9_]+/).some((word) => reasons.has(word)))
      throw refuse(`The parameter ${name} must not contain the name of such a function`);
}

const refuse = (text: string): AppError => new AppError('forbidden', `The reader may not run this statement. ${text}`);
