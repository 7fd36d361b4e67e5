import { DEFAULT_LEVEL, getAggregation } from '../aggregations.ts';
import type { Series } from '../series-schema.ts';
import { splitExpressions } from './expression-list.ts';

type SortOrder = NonNullable<Series['sortOrder']>;
type SortedSeries = Pick<Series, 'aggFn' | 'field' | 'level' | 'alias'>;

/** The `orderBy` of a config that sorts a table by this series. */
export function formatOrder(series: SortedSeries, order: SortOrder): string {
  return `${listNames(series)[0]} ${order.toUpperCase()}`;
}

/** The order of a table by this series. Undefined if `orderBy` is something else. */
export function findSortOrder(orderBy: string | undefined, series: SortedSeries): SortOrder | undefined {
  const { name, order } = splitOrder(orderBy ?? '');
  return listNames(series).includes(name) ? order : undefined;
}

/** A column of a table by its position, and its order. */
export interface ColumnOrder {
  column: number;
  order: SortOrder;
}

/** As many as a table can have columns. */
const MAX_ORDERS = 30;

/** The order of a table whose columns are the groups, then the values. Undefined if `orderBy` names anything else. */
export function findColumnOrders(
  orderBy: string | undefined,
  groupBy: readonly string[],
  series: readonly SortedSeries[],
): ColumnOrder[] | undefined {
  const names = [...groupBy.map((group) => [group, ...quote(group)]), ...series.map(listNames)];
  const orders = splitExpressions(orderBy ?? '', MAX_ORDERS).map((part) => {
    const { name, order } = splitOrder(part);
    return { column: names.findLastIndex((column) => column.includes(name)), order };
  });
  return orders.length > 0 && orders.every(({ column }) => column >= 0) ? orders : undefined;
}

/** `name DESC` → the name and the order. */
export function splitOrder(text: string): { name: string; order: SortOrder } {
  const trimmed = text.trim();
  const direction = /\s(?:asc|desc)$/i.exec(trimmed);
  if (!direction) return { name: trimmed, order: 'asc' };
  const order = /desc$/i.test(trimmed) ? 'desc' : 'asc';
  return { name: trimmed.slice(0, direction.index).trim(), order };
}

const quote = (name: string): string[] =>
  ['"', '`'].filter((mark) => !name.includes(mark)).map((mark) => `${mark}${name}${mark}`);

/** How SQL can refer to the value: by its alias if there is one, or by its expression. */
function listNames({ aggFn = 'count', field = '', level = DEFAULT_LEVEL, alias }: SortedSeries): string[] {
  const expression = getAggregation(aggFn).sql?.(field, level) ?? `${aggFn}(${field})`;
  if (alias === undefined || alias === '') return [expression];
  return [...(/^[A-Za-z_]\w*$/.test(alias) ? [alias] : []), ...quote(alias), expression];
}
