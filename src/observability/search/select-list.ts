import { type Draft, queryError } from '../charts/queries/draft.ts';
import { splitExpressions } from '../charts/queries/expression-list.ts';
import type { Table } from '../charts/queries/series-query.ts';
import { splitOrder } from '../charts/queries/sort-order.ts';
import type { Expression } from '../expressions/expression.ts';
import { quoteName } from '../expressions/writer.ts';

const MAX_COLUMNS = 100;
const MAX_ORDERS = 20;
/** `expression AS name`, where the name may be quoted. */
const ALIAS = /^([\s\S]*\S)\s+AS\s+(?:([A-Za-z_]\w*)|"([^"\\]{1,255})"|`([^`\\]{1,255})`)$/i;

/** A value of each row. */
export interface SelectedColumn {
  name: string;
  expression: Expression;
}

/** The columns of `select`: expressions with optional names, and `*` for all columns of the table. */
export function parseSelect(draft: Draft, table: Table, select: string): SelectedColumn[] {
  const columns = new Map<string, { text: string; column: SelectedColumn }>();
  for (const part of splitList('select', select, MAX_COLUMNS)) {
    for (const { name, text } of part === '*' ? listColumns(table) : [splitAlias(part)]) {
      const known = columns.get(name);
      if (known && known.text !== text)
        throw queryError('select', `Two columns have the name ${name}; choose another with AS`);
      if (!known) columns.set(name, { text, column: { name, expression: draft.value('select', text) } });
    }
  }
  return [...columns.values()].map(({ column }) => column);
}

interface Order {
  expression: Expression;
  direction: 'ASC' | 'DESC';
}

/** `orderBy` may use the names of selected columns. */
export function parseOrder(draft: Draft, columns: readonly SelectedColumn[], orderBy: string): Order[] {
  return splitList('orderBy', orderBy, MAX_ORDERS).map((part) => {
    const { name, order } = splitOrder(part);
    const plain = name.replace(/^(["`])(.*)\1$/, '$2');
    const selected = columns.find((column) => column.name === name || column.name === plain);
    return {
      expression: selected?.expression ?? draft.value('orderBy', name),
      direction: order === 'asc' ? 'ASC' : 'DESC',
    };
  });
}

/** The order that a search has without `orderBy`. */
export function isNewestFirst(orderBy: string | undefined, { timeColumn }: Table): boolean {
  if (orderBy === undefined || orderBy.trim() === '') return true;
  const { name, order } = splitOrder(orderBy);
  return order === 'desc' && [timeColumn, `"${timeColumn}"`, `\`${timeColumn}\``].includes(name);
}

function splitList(member: string, text: string, max: number): string[] {
  const parts = splitExpressions(text, max);
  if (parts.length > max) throw queryError(member, `At most ${max} expressions are allowed`);
  return parts;
}

function splitAlias(part: string): { name: string; text: string } {
  const [, text, ...names] = ALIAS.exec(part) ?? [];
  const name = names.find((one) => one !== undefined);
  return text === undefined || name === undefined ? { name: part, text: part } : { name, text };
}

const listColumns = ({ columns }: Table) => columns.map(({ name }) => ({ name, text: quoteName(name) }));
