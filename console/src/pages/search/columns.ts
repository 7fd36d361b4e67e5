import { formatValue, withUnit } from '../dashboards/number-format.ts';
import type { Source } from '../dashboards/where/suggestions.ts';
import { quoteColumn } from './conditions.ts';

/** The parts of a list of expressions, without names that follow AS. */
export function splitExpressions(list: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const [token] of list.matchAll(/'(?:[^'\\]|\\.)*'|"[^"]*"|`[^`]*`|[\s\S]/g)) {
    if (token === '(' || token === '[') depth += 1;
    if (token === ')' || token === ']') depth -= 1;
    if (token === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += token;
  }
  return parts
    .map((part) => part.trim().replace(/\s+AS\s+(\w+|"[^"]*"|`[^`]*`)$/i, ''))
    .filter((part) => part !== '' && part !== '*');
}

/** The columns that a source shows after the time. */
export function listDefaultColumns(source: Source): string[] {
  const given = splitExpressions(source.defaultTableSelectExpression ?? '');
  const status = source.kind === 'log' ? source.severityTextExpression : source.statusCodeExpression;
  const known = [source.serviceNameExpression, status, source.bodyExpression].flatMap((one) => one || []);
  const names = given.length > 0 ? given : known;
  return [...new Set(names)].filter((name) => name !== source.timestampValueExpression);
}

/** The columns are named by position: two expressions may not have the same name. */
export const toSelect = ({ timestampValueExpression }: Source, columns: readonly string[]): string =>
  [`${quoteColumn(timestampValueExpression)} AS t`, ...columns.map((column, index) => `${column} AS c${index}`)].join(
    ', ',
  );

/** For files, whose header has the expressions. */
export const toExportSelect = ({ timestampValueExpression }: Source, columns: readonly string[]): string =>
  [...new Set([quoteColumn(timestampValueExpression), ...columns])].join(', ');

/** A row of a search. */
export interface FoundRow {
  id: string;
  /** ISO 8601 with nanoseconds. */
  time: string;
  /** In the order of the columns. */
  cells: unknown[];
}

export const toFoundRows = (
  data: readonly Record<string, unknown>[],
  ids: readonly string[],
  columns: readonly string[],
): FoundRow[] =>
  data.map((row, index) => ({
    id: ids[index] ?? '',
    time: String(row.t),
    cells: columns.map((_, column) => row[`c${column}`]),
  }));

/** `LogAttributes['http.route']` → `http.route`, for the header of a column. */
export const shortenExpression = (expression: string): string =>
  /^[A-Za-z_]\w*\['([^'\\]+)'\]$/.exec(expression)?.[1] ?? expression;

const DURATION_UNITS = { 0: 's', 3: 'ms', 6: 'us', 9: 'ns' } as const;

/** The text of a cell: durations in their unit. */
export function formatColumn(source: Source, column: string, value: unknown): string {
  const isDuration = column === source.durationExpression && Number.isFinite(Number(value)) && value !== null;
  return isDuration
    ? formatValue(Number(value), withUnit({}, DURATION_UNITS[source.durationPrecision ?? 9]))
    : formatCell(value);
}

export const formatCell = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** For parts of dashboards, which know series. */
export const toSeries = (sourceId: string, where = '', whereLanguage: 'lucene' | 'sql' = 'lucene') => ({
  type: 'search' as const,
  sourceId,
  where,
  whereLanguage,
  groupBy: [],
});
