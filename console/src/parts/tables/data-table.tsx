import { Skeleton, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { PartBoundary } from '../layout/part-boundary.tsx';
import classes from './data-table.module.css';
import { ScrollRegion } from './scroll-region.tsx';
import {
  getDirection,
  getNextSort,
  getOrderDirection,
  SortButton,
  type SortValue,
  sortRows,
  useSorting,
} from './sorting.tsx';

export interface Column<Row> {
  header: string;
  /** Shows the header to screen readers only, for example for a column of buttons. */
  isHeaderHidden?: boolean;
  cell: (row: Row) => ReactNode;
  /** Makes the column sortable by these values. */
  sortBy?: (row: Row) => SortValue;
  /** Makes the column sortable by the server, as this field. Needs `order`. */
  sortField?: string;
  align?: 'left' | 'right';
  /** Hidden below this breakpoint. */
  from?: 'sm' | 'md' | 'lg';
  width?: number | string;
}

/** The order of a list that the server sorts: a field, with `-` in descending order. */
export interface Order {
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
}

interface Props<Row> {
  /** Accessible name. */
  label: string;
  columns: Column<Row>[];
  rows: readonly Row[] | undefined;
  rowKey: (row: Row) => string;
  /** Expected number of rows, so that the table keeps its height while it loads. */
  loadingRows?: number;
  footer?: ReactNode;
  /** For columns that the server sorts. */
  order?: Order;
}

/** A component, so that a cell that cannot be rendered affects its row only. */
function Row<R>({ row, columns }: { row: R; columns: (Column<R> & { visibleFrom?: 'sm' | 'md' | 'lg' })[] }) {
  return (
    <Table.Tr className={classes.row}>
      {columns.map(({ header, cell, align, visibleFrom }) => (
        <Table.Td key={header} ta={align} visibleFrom={visibleFrom}>
          {cell(row)}
        </Table.Td>
      ))}
    </Table.Tr>
  );
}

export function DataTable<R>({ label, columns, rows, rowKey, loadingRows = 3, footer, order }: Props<R>) {
  const { sorting, toggle } = useSorting();
  const sorted =
    rows && sortRows(rows, sorting, (row, header) => columns.find((one) => one.header === header)?.sortBy?.(row));
  const visible = columns.map((column) => ({ ...column, ...(column.from ? { visibleFrom: column.from } : {}) }));
  return (
    <ScrollRegion className={classes.scroll} aria-label={`${label}, table`}>
      <Table className={classes.table} aria-label={label} aria-busy={rows === undefined}>
        <Table.Thead>
          <Table.Tr>
            {visible.map(({ header, isHeaderHidden, align, visibleFrom, width, sortBy, sortField }) => {
              const isSortable = sortBy !== undefined || (order !== undefined && sortField !== undefined);
              const direction =
                order && sortField ? getOrderDirection(order.sort, sortField) : getDirection(sorting, header);
              return (
                <Table.Th
                  key={header}
                  ta={align}
                  w={width}
                  visibleFrom={visibleFrom}
                  scope="col"
                  aria-sort={isSortable ? direction : undefined}
                >
                  {isSortable ? (
                    <SortButton
                      direction={direction}
                      align={align}
                      onSort={() =>
                        order && sortField
                          ? order.onSort(getNextSort(order.sort, sortField))
                          : // Amounts, which are aligned to the right, start with the largest.
                            toggle(header, align === 'right' ? 'descending' : 'ascending')
                      }
                    >
                      {header}
                    </SortButton>
                  ) : isHeaderHidden ? (
                    <span className={classes.hidden}>{header}</span>
                  ) : (
                    header
                  )}
                </Table.Th>
              );
            })}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sorted
            ? sorted.map((row) => (
                <PartBoundary
                  key={rowKey(row)}
                  resetKey={row}
                  frame={(notice) => (
                    <Table.Tr className={classes.row}>
                      <Table.Td colSpan={visible.length}>{notice}</Table.Td>
                    </Table.Tr>
                  )}
                >
                  <Row row={row} columns={visible} />
                </PartBoundary>
              ))
            : Array.from({ length: loadingRows }, (_, index) => `loading-${index}`).map((key) => (
                <Table.Tr key={key}>
                  {visible.map(({ header, visibleFrom }) => (
                    <Table.Td key={header} visibleFrom={visibleFrom}>
                      <Skeleton height={14} my={4} width="70%" />
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
        </Table.Tbody>
        {footer && <Table.Tfoot>{footer}</Table.Tfoot>}
      </Table>
    </ScrollRegion>
  );
}
