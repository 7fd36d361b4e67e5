import { type ReactNode, useState } from 'react';
import classes from './sorting.module.css';

export type SortValue = string | number | null | undefined;
type Direction = 'ascending' | 'descending';

interface Sorting {
  column: string;
  direction: Direction;
}

const collator = new Intl.Collator(undefined, { numeric: true });

function compareValues(one: SortValue, other: SortValue): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return collator.compare(String(one), String(other));
}

const hasValue = (value: SortValue): boolean => value !== null && value !== undefined && value !== '';

/** Rows without a value are last in both directions. Without a sorting, the rows keep their order. */
export function sortRows<Row>(
  rows: readonly Row[],
  sorting: Sorting | undefined,
  read: (row: Row, column: string) => SortValue,
): readonly Row[] {
  if (!sorting) return rows;
  const { column, direction } = sorting;
  const sign = direction === 'ascending' ? 1 : -1;
  return rows.toSorted((a, b) => {
    const [one, other] = [read(a, column), read(b, column)];
    if (hasValue(one) !== hasValue(other)) return hasValue(one) ? -1 : 1;
    return hasValue(one) ? sign * compareValues(one, other) : 0;
  });
}

/** A click sorts by a column, the next one reverses the order, a third one restores the original order. */
export function useSorting(): { sorting: Sorting | undefined; toggle: (column: string, first: Direction) => void } {
  const [sorting, setSorting] = useState<Sorting>();
  const toggle = (column: string, first: Direction) =>
    setSorting((before) => {
      if (before?.column !== column) return { column, direction: first };
      if (before.direction !== first) return undefined;
      return { column, direction: first === 'ascending' ? 'descending' : 'ascending' };
    });
  return { sorting, toggle };
}

/** For `aria-sort` of the header cell. */
export const getDirection = (sorting: Sorting | undefined, column: string): Direction | 'none' =>
  sorting?.column === column ? sorting.direction : 'none';

/** As `getDirection`, for a list that the server sorts: `name`, or `-name` in descending order. */
export function getOrderDirection(sort: string | undefined, field: string): Direction | 'none' {
  if (sort === field) return 'ascending';
  return sort === `-${field}` ? 'descending' : 'none';
}

/** The order after a click, as in `useSorting`. */
export function getNextSort(sort: string | undefined, field: string): string | undefined {
  if (sort === field) return `-${field}`;
  return sort === `-${field}` ? undefined : field;
}

interface SortButtonProps {
  direction: Direction | 'none';
  /** The arrow is on the inner side of the text. */
  align?: 'left' | 'right' | undefined;
  onSort: () => void;
  children: ReactNode;
}

/** The content of a sortable header cell. */
export function SortButton({ direction, align = 'left', onSort, children }: SortButtonProps) {
  return (
    <button type="button" className={classes.button} onClick={onSort} data-direction={direction} data-align={align}>
      {children}
      <span className={classes.arrow} aria-hidden="true">
        {direction === 'ascending' ? '▲' : '▼'}
      </span>
    </button>
  );
}
