import { toLuceneName } from '../dashboards/where/suggestions.ts';
import { quoteText } from './quote-text.ts';

/** Values of an expression that are searched for, or excluded. The values are SQL literals. */
interface Choice {
  expression: string;
  isExcluded: boolean;
  literals: string[];
}

/** `only` replaces the other choices of the expression. */
export type Choosing = 'include' | 'exclude' | 'only';

/** As an expression: names such as `Events.Name` must be quoted. */
export const quoteColumn = (name: string): string =>
  /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;

export const quoteEntry = (column: string, key: string): string => `${quoteColumn(column)}[${quoteText(key)}]`;

/** The literal of a value; undefined if rows cannot be filtered by it. Large integers are texts in JSON. */
export function toLiteral(value: unknown, type: string): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || /Date|Array/.test(type)) return undefined;
  const isNumber = /Int|Float|Decimal/.test(type) && /^-?\d+(\.\d+)?$/.test(value);
  return isNumber || (type === 'Bool' && /^(true|false)$/.test(value)) ? value : quoteText(value);
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', "'": "'" };

/** The value of a literal, as people write it. */
export const showLiteral = (literal: string): string =>
  literal.startsWith("'")
    ? literal.slice(1, -1).replace(/\\(.)|''/gs, (_, escaped = "'") => ESCAPES[escaped] ?? escaped)
    : literal;

export const formatChoice = ({ expression, isExcluded, literals }: Choice): string =>
  `${expression} ${isExcluded ? 'NOT IN' : 'IN'} (${literals.join(', ')})`;

/** Undefined for conditions of another form. */
export function parseChoice(condition: string): Choice | undefined {
  const [head, expression = '', not] = /^(\S[\s\S]*?)\s+(NOT\s+)?IN\s*\(/i.exec(condition) ?? [];
  if (head === undefined || !condition.trimEnd().endsWith(')')) return undefined;
  const list = condition.trimEnd().slice(head.length, -1);
  const literals: string[] = [];
  const next = /\s*('(?:[^'\\]|\\.|'')*'|-?[\d.]+(?:[eE][+-]?\d+)?|true|false)\s*(,|$)/gsy;
  let end = 0;
  for (let found = next.exec(list); found; found = end < list.length ? next.exec(list) : null) {
    literals.push(found[1] ?? '');
    end = next.lastIndex;
    if (found[2] === '') break;
  }
  return literals.length > 0 && end === list.length
    ? { expression, isExcluded: not !== undefined, literals }
    : undefined;
}

/** The filters with a choice of a value added. */
export function choose(filters: readonly string[], expression: string, literal: string, how: Choosing): string[] {
  const others = how === 'only' ? dropExpression(filters, expression) : dropValue(filters, expression, literal);
  const isExcluded = how === 'exclude';
  const at = others.findIndex((one) => {
    const choice = parseChoice(one);
    return choice?.expression === expression && choice.isExcluded === isExcluded;
  });
  const before = parseChoice(others[at] ?? '')?.literals ?? [];
  const changed = formatChoice({ expression, isExcluded, literals: [...before, literal] });
  return at === -1 ? [...others, changed] : others.with(at, changed);
}

const dropExpression = (filters: readonly string[], expression: string): string[] =>
  filters.filter((one) => parseChoice(one)?.expression !== expression);

/** The filters without a value of an expression. */
export const dropValue = (filters: readonly string[], expression: string, literal: string): string[] =>
  filters.flatMap((one) => {
    const choice = parseChoice(one);
    if (choice?.expression !== expression || !choice.literals.includes(literal)) return one;
    const literals = choice.literals.filter((other) => other !== literal);
    return literals.length === 0 ? [] : formatChoice({ ...choice, literals });
  });

/** One condition for `where` and all filters, for a place that has no filters. Undefined if they cannot be combined. */
export function combineConditions(
  where: string,
  language: 'lucene' | 'sql',
  filters: readonly string[],
): { where: string; whereLanguage: 'lucene' | 'sql' } | undefined {
  if (filters.length === 0) return { where, whereLanguage: language };
  if (language === 'sql' || where.trim() === '') {
    const parts = [...(where.trim() === '' ? [] : [where]), ...filters];
    return { where: parts.map((part) => `(${part})`).join(' AND '), whereLanguage: 'sql' };
  }
  const converted = filters.map(toLucene);
  if (converted.includes(undefined)) return undefined;
  return { where: [`(${where})`, ...converted].join(' AND '), whereLanguage: 'lucene' };
}

/** `ServiceName IN ('a', 'b')` → `(ServiceName:"a" OR ServiceName:"b")`. */
function toLucene(condition: string): string | undefined {
  const choice = parseChoice(condition);
  const name = choice && toLuceneName(choice.expression);
  if (!choice || name === undefined) return undefined;
  const terms = choice.literals.map((literal) => `${name}:${quotePhrase(showLiteral(literal))}`);
  const any = `(${terms.join(' OR ')})`;
  return choice.isExcluded ? `NOT ${any}` : any;
}

const quotePhrase = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

const MAX_NAME_CHARACTERS = 100;

/** For accessible names. */
export const shortenText = (text: string): string =>
  text.length > MAX_NAME_CHARACTERS ? `${text.slice(0, MAX_NAME_CHARACTERS)}…` : text;
