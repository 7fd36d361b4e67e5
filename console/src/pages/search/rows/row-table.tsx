import { Skeleton } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, useEffect, useRef } from 'react';
import { formatDateTime } from '../../../parts/format/times.ts';
import { ScrollRegion } from '../../../parts/tables/scroll-region.tsx';
import { type FoundRow, formatColumn, shortenExpression } from '../columns.ts';
import type { SearchState } from '../use-search-state.ts';
import { ColumnHeader } from './column-header.tsx';
import classes from './row-table.module.css';
import type { RowCursor } from './use-row-keys.ts';

interface Props {
  state: SearchState;
  rows: readonly FoundRow[];
  table: RowCursor;
  isLoading: boolean;
  onOpen: (id: string) => void;
  /** The end of the loaded rows is near. */
  onEnd: () => void;
  onScrolled: () => void;
}

const ROW_PX = 28;
const OVERSCAN = 12;
/** Rows before the end at which more are loaded. */
const NEAR_END = 40;
const SCROLLED_PX = 20;
const TIME_PX = 178;
const COLUMN_PX = 150;
const MAX_TITLE = 2000;

/** The rows that are on the screen, of all that are loaded. */
export function RowTable({ state, rows, table, isLoading, onOpen, onEnd, onScrolled }: Props) {
  const { columns, search, source, window, toggleColumn } = state;
  const box = useRef<HTMLElement>(null);
  const [widths, setWidths] = useLocalStorage<Record<string, number>>({
    key: `pilothouse-columns-${source.id}`,
    defaultValue: {},
    getInitialValueInEffect: false,
  });
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: OVERSCAN,
    // The header covers the top.
    scrollPaddingStart: ROW_PX,
  });
  const items = virtualizer.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  const isNearEnd = rows.length > 0 && lastShown >= rows.length - NEAR_END;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the end comes near, or moves
  useEffect(() => {
    if (isNearEnd) onEnd();
  }, [isNearEnd, rows.length]);
  useEffect(() => {
    table.scroll.current = (index) => {
      if (index === 0) box.current?.scrollTo({ top: 0 });
      else virtualizer.scrollToIndex(index);
    };
  }, [table.scroll, virtualizer]);

  const shown = [source.timestampValueExpression, ...columns];
  const template = shown.map((name, index) => {
    const width = widths[name] ?? (index === 0 ? TIME_PX : COLUMN_PX);
    return index === shown.length - 1 && widths[name] === undefined ? 'minmax(240px, 1fr)' : `${width}px`;
  });
  return (
    <ScrollRegion
      ref={box}
      className={classes.box}
      aria-label="Rows, table"
      data-wrap={search.wrap === true}
      style={{ '--template': template.join(' ') } as CSSProperties}
      onScroll={(event) => event.currentTarget.scrollTop > SCROLLED_PX && onScrolled()}
    >
      <table
        className={classes.table}
        aria-label="Rows, newest first"
        aria-rowcount={rows.length + 1}
        aria-busy={isLoading}
      >
        <thead className={classes.head}>
          <tr className={classes.headRow}>
            {shown.map((name, index) => (
              <ColumnHeader
                key={name}
                name={index === 0 ? 'Time' : shortenExpression(name)}
                title={name}
                width={widths[name]}
                onResize={(width) => setWidths((before) => ({ ...before, [name]: width }))}
                onRemove={index === 0 ? undefined : () => toggleColumn(name)}
              />
            ))}
          </tr>
        </thead>
        <tbody className={classes.rows} style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ key, index, start }) => {
            const row = rows[index];
            if (!row) return null;
            const open = () => {
              table.setCurrent(row.id);
              onOpen(row.id);
            };
            return (
              <tr
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                className={classes.row}
                aria-rowindex={index + 2}
                aria-current={row.id === search.row}
                data-current={row.id === table.currentId}
                data-level={findLevel(row, state)}
                style={{ transform: `translateY(${start}px)` }}
                onClick={() => !isSelecting() && open()}
              >
                <td className={classes.time}>
                  <button
                    type="button"
                    className={classes.open}
                    title={row.time}
                    onClick={(event) => {
                      // The row has the same action.
                      event.stopPropagation();
                      open();
                    }}
                  >
                    {formatRowTime(row.time, window.zone)}
                  </button>
                </td>
                {columns.map((column, at) => {
                  const text = formatColumn(source, column, row.cells[at]);
                  return (
                    <td key={column} className={classes.cell} title={text.slice(0, MAX_TITLE)}>
                      {text}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
      {isLoading && (
        <div className={classes.loading}>
          {['a', 'b', 'c', 'd', 'e'].map((name) => (
            <Skeleton key={name} height={14} my={8} />
          ))}
        </div>
      )}
    </ScrollRegion>
  );
}

/** The end of a selection is not a click on the row. */
const isSelecting = (): boolean => globalThis.window.getSelection()?.type === 'Range';

/** With milliseconds; the title has the nanoseconds. */
export const formatRowTime = (time: string, zone: string): string =>
  `${formatDateTime(Date.parse(time), zone)}.${(/\.(\d{1,3})/.exec(time)?.[1] ?? '').padEnd(3, '0')}`;

/** The severity or status, for the color of the row; the text is in a column. */
function findLevel({ cells }: FoundRow, { columns, source }: SearchState): string | undefined {
  const names = [source.severityTextExpression ?? 'SeverityText', source.statusCodeExpression ?? 'StatusCode'];
  const text = String(cells[columns.findIndex((column) => names.includes(column))] ?? '');
  if (/^(fatal|critical|error|status_code_error)/i.test(text)) return 'error';
  return /^warn/i.test(text) ? 'warn' : undefined;
}
