import { DEFAULT_LEVEL } from './aggregations.ts';
import type { Series } from './series-schema.ts';

type SortOrder = NonNullable<Series['sortOrder']>;
type SortedSeries = Pick<Series, 'aggFn' | 'field' | 'level' | 'alias'>;

/** The `orderBy` of a config that sorts a table by this series. */
export function formatOrder(series: SortedSeries, order: SortOrder): string {
  return `${listNames(series)[0]} ${order.toUpperCase()}`;
}

/** The order of a table by this series. Undefined if `orderBy` is something else. */
export function findSortOrder(orderBy: string | undefined, series: SortedSeries): SortOrder | undefined {
  const [, name, order = 'ASC'] = /^\s*(.*?)(?:\s+(ASC|DESC))?\s*$/is.exec(orderBy ?? '') ?? [];
  if (name === undefined || !listNames(series).includes(name)) return undefined;
  return order.toUpperCase() === 'DESC' ? 'desc' : 'asc';
}

/** How SQL can refer to the value: by its alias if there is one, or by its expression. */
function listNames({ aggFn = 'count', field = '', level = DEFAULT_LEVEL, alias }: SortedSeries): string[] {
  const call = aggFn === 'quantile' ? `quantile(${level})(${field})` : `${aggFn}(${field})`;
  const expression = aggFn === 'count_distinct' ? `count(DISTINCT ${field})` : aggFn === 'count' ? 'count()' : call;
  if (alias === undefined || alias === '') return [expression];
  const quoted = ['"', '`'].filter((quote) => !alias.includes(quote)).map((quote) => `${quote}${alias}${quote}`);
  return [...(/^[A-Za-z_]\w*$/.test(alias) ? [alias] : []), ...quoted, expression];
}
