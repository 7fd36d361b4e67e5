import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import { formatNumber } from '../../../parts/format/format.ts';
import { ColumnHandle } from '../../../parts/tables/column-handle.tsx';
import { ScrollRegion } from '../../../parts/tables/scroll-region.tsx';
import { SortButton } from '../../../parts/tables/sorting.tsx';
import classes from './result-table.module.css';
import { formatValue, orderRows, type ResultColumn, type ResultOrder, type ResultRow } from './values.ts';

/** A cell, or a row without `column`. */
export interface Place {
  row: number;
  column?: number;
}

interface Props {
  columns: readonly ResultColumn[];
  rows: readonly ResultRow[];
  totals: ResultRow | undefined;
  isLoading: boolean;
  opened: Place | undefined;
  onOpen: (place: Place) => void;
}

const ROW_PX = 28;
const HEAD_PX = 46;
const OVERSCAN = 12;
const NUMBER_PX = 64;
const CHARACTER_PX = 7.6;
const PADDING_PX = 26;
const [MIN_PX, MAX_PX] = [84, 340];
/** Rows from which the widths are taken. */
const SAMPLE = 40;
/** Longer values are cut in the table; the panel has the whole value. */
const MAX_SHOWN = 500;

/** The rows and columns that are on the screen, of all that are loaded. */
export function ResultTable({ columns, rows, totals, isLoading, opened, onOpen }: Props) {
  const box = useRef<HTMLElement>(null);
  const [order, setOrder] = useState<ResultOrder>();
  const [resized, setResized] = useState<Record<number, number>>({});
  // The same array while rows arrive.
  const count = rows.length;
  const indexes = useMemo(() => orderRows(rows, count, columns, order), [rows, count, columns, order]);
  const sampled = Math.min(count, SAMPLE);
  const widths = useMemo(
    () => columns.map((column, index) => resized[index] ?? estimateWidth(column, rows.slice(0, sampled), index)),
    [columns, resized, rows, sampled],
  );
  const vertical = useVirtualizer({
    count: indexes.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    scrollPaddingStart: HEAD_PX,
  });
  const horizontal = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => widths[index] ?? MIN_PX,
    // New sizes have new keys: the old ones are remembered.
    getItemKey: (index) => `${index} ${widths[index]}`,
    paddingStart: NUMBER_PX,
    overscan: 3,
  });
  const shown = horizontal.getVirtualItems();
  const width = NUMBER_PX + widths.reduce((sum, one) => sum + one, 0);
  const sort = (column: number) =>
    setOrder((before) => {
      if (before?.column !== column) return { column, isDescending: false };
      return before.isDescending ? undefined : { column, isDescending: true };
    });
  return (
    <ScrollRegion ref={box} className={classes.box} aria-label="Result, table">
      <table
        className={classes.table}
        style={{ width }}
        aria-label="Result"
        aria-rowcount={count + 1}
        aria-colcount={columns.length + 1}
        aria-busy={isLoading}
      >
        <thead className={classes.head}>
          <tr className={classes.row} style={{ height: HEAD_PX }}>
            <th scope="col" className={classes.number} aria-colindex={1}>
              Row
            </th>
            {shown.map(({ index, start, size }) => {
              const { name, type, kind } = columns[index] ?? { name: '', type: '', kind: 'text' };
              const direction =
                order?.column !== index ? 'none' : order.isDescending ? 'descending' : ('ascending' as const);
              return (
                <th
                  key={index}
                  scope="col"
                  className={classes.header}
                  style={{ width: size, transform: `translateX(${start}px)` }}
                  aria-colindex={index + 2}
                  aria-sort={direction}
                  title={`${name} ${type}`}
                  data-kind={kind}
                >
                  <SortButton
                    direction={direction}
                    align={kind === 'number' ? 'right' : 'left'}
                    onSort={() => sort(index)}
                  >
                    <span className={classes.name}>{name}</span>
                  </SortButton>
                  <span className={classes.type}>{type}</span>
                  <ColumnHandle
                    label={name}
                    width={size}
                    measure={() => size}
                    onResize={(px) => setResized((before) => ({ ...before, [index]: px }))}
                  />
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody className={classes.rows} style={{ height: vertical.getTotalSize() }}>
          {vertical.getVirtualItems().map(({ index, start }) => {
            const row = indexes[index] ?? 0;
            return (
              <tr
                key={row}
                className={classes.row}
                aria-rowindex={index + 2}
                aria-current={opened?.row === row}
                style={{ height: ROW_PX, transform: `translateY(${start}px)` }}
              >
                <td className={classes.number} aria-colindex={1}>
                  <button type="button" aria-label={`Open row ${row + 1}`} onClick={() => onOpen({ row })}>
                    {formatNumber(row + 1)}
                  </button>
                </td>
                {shown.map(({ index: column, start: left, size }) => (
                  <ResultCell
                    key={column}
                    value={rows[row]?.[column]}
                    kind={columns[column]?.kind}
                    column={column}
                    left={left}
                    width={size}
                    isOpen={opened?.row === row && opened.column === column}
                    onOpen={() => onOpen({ row, column })}
                  />
                ))}
              </tr>
            );
          })}
        </tbody>
        {totals && (
          <tfoot className={classes.foot}>
            <tr className={classes.row} style={{ height: ROW_PX }}>
              <th scope="row" className={classes.number}>
                Totals
              </th>
              {shown.map(({ index, start, size }) => (
                <ResultCell
                  key={index}
                  value={totals[index]}
                  kind={columns[index]?.kind}
                  column={index}
                  left={start}
                  width={size}
                />
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </ScrollRegion>
  );
}

interface CellProps {
  value: unknown;
  kind: ResultColumn['kind'] | undefined;
  column: number;
  left: number;
  width: number;
  isOpen?: boolean;
  onOpen?: () => void;
}

/** A click opens the whole value; by keyboard, the row has all of them. */
function ResultCell({ value, kind, column, left, width, isOpen = false, onOpen }: CellProps) {
  const isNull = value === null || value === undefined;
  const text = formatValue(value);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <td
      className={classes.cell}
      style={{ width, transform: `translateX(${left}px)` }}
      aria-colindex={column + 2}
      data-kind={kind}
      data-null={isNull}
      data-open={isOpen}
      onClick={() => globalThis.getSelection()?.type !== 'Range' && onOpen?.()}
    >
      {text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text}
    </td>
  );
}

function estimateWidth({ name, type }: ResultColumn, rows: readonly ResultRow[], index: number): number {
  const lengths = rows.map((row) => formatValue(row[index]).length);
  const longest = Math.max(name.length + 2, Math.min(type.length, 24), ...lengths);
  return Math.round(Math.min(Math.max(longest * CHARACTER_PX + PADDING_PX, MIN_PX), MAX_PX));
}
