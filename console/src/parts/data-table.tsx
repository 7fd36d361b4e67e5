import { Skeleton, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './data-table.module.css';
import { ScrollRegion } from './scroll-region.tsx';
import { getDirection, SortButton, type SortValue, sortRows, useSorting } from './sorting.tsx';

export interface Column<Row> {
  header: string;
  /** Shows the header to screen readers only, for example for a column of buttons. */
  isHeaderHidden?: boolean;
  cell: (row: Row) => ReactNode;
  /** Makes the column sortable by these values. */
  sortBy?: (row: Row) => SortValue;
  align?: 'left' | 'right';
  /** Hidden below this breakpoint. */
  from?: 'sm' | 'md' | 'lg';
  width?: number | string;
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
}

export function DataTable<Row>({ label, columns, rows, rowKey, loadingRows = 3, footer }: Props<Row>) {
  const { sorting, toggle } = useSorting();
  const sorted =
    rows && sortRows(rows, sorting, (row, header) => columns.find((one) => one.header === header)?.sortBy?.(row));
  const visible = columns.map((column) => ({ ...column, ...(column.from ? { visibleFrom: column.from } : {}) }));
  return (
    <ScrollRegion className={classes.scroll} label={`${label}, table`}>
      <Table className={classes.table} aria-label={label} aria-busy={rows === undefined}>
        <Table.Thead>
          <Table.Tr>
            {visible.map(({ header, isHeaderHidden, align, visibleFrom, width, sortBy }) => (
              <Table.Th
                key={header}
                ta={align}
                w={width}
                visibleFrom={visibleFrom}
                scope="col"
                aria-sort={sortBy && getDirection(sorting, header)}
              >
                {sortBy ? (
                  <SortButton
                    direction={getDirection(sorting, header)}
                    align={align}
                    // Amounts, which are aligned to the right, start with the largest.
                    onSort={() => toggle(header, align === 'right' ? 'descending' : 'ascending')}
                  >
                    {header}
                  </SortButton>
                ) : isHeaderHidden ? (
                  <span className={classes.hidden}>{header}</span>
                ) : (
                  header
                )}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sorted
            ? sorted.map((row) => (
                <Table.Tr key={rowKey(row)} className={classes.row}>
                  {visible.map(({ header, cell, align, visibleFrom }) => (
                    <Table.Td key={header} ta={align} visibleFrom={visibleFrom}>
                      {cell(row)}
                    </Table.Td>
                  ))}
                </Table.Tr>
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
