import { Fragment, useState } from 'react';
import { formatDateTime } from '../../../../parts/format/times.ts';
import { ChevronIcon } from '../../../../parts/layout/icons.tsx';
import { ScrollRegion } from '../../../../parts/tables/scroll-region.tsx';
import { getDirection, SortButton, type SortValue, sortRows, useSorting } from '../../../../parts/tables/sorting.tsx';
import type { Series, TileDataByType } from '../../queries.ts';
import { EmptyTile } from '../empty-tile.tsx';
import classes from '../tiles.module.css';
import { CellText } from './cell-text.tsx';
import { RowDetails } from './row-details.tsx';
import { listShownRows } from './row-query.ts';

interface Props {
  /** Undefined for a visitor, who cannot read more than the tile shows. */
  series: Series | undefined;
  data: TileDataByType<'search'>;
  zone: string;
}

/** The newest rows. A click on a row shows its full text and all of its columns. */
export function SearchTile({ series, data, zone }: Props) {
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set());
  const { sorting, toggle: sort } = useSorting();
  if (data.rows.length === 0) return <EmptyTile />;
  // The timestamp is always the first column; skip it if it is also selected.
  const columns = data.columns
    .map(({ name }, index) => ({ name, index, id: `${index} ${name}` }))
    .filter(({ name, index }) => index === 0 || name !== data.columns[0]?.name);
  const shown = data.columns.slice(1).map(({ name }) => name);
  const rows = sortRows(listShownRows(data), sorting, ({ cells }, column) =>
    toSortValue(cells[columns.find(({ id }) => id === column)?.index ?? 0]),
  );
  const toggle = (id: string) =>
    setExpanded((before) =>
      before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id]),
    );
  return (
    <ScrollRegion className={classes.scroll}>
      <table className={classes.table}>
        <thead>
          <tr>
            {columns.map(({ id, name }) => (
              <th key={id} scope="col" aria-sort={getDirection(sorting, id)}>
                <SortButton direction={getDirection(sorting, id)} onSort={() => sort(id, 'ascending')}>
                  {name}
                </SortButton>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, cells, occurrence }) => (
            <Fragment key={id}>
              <tr className={classes.row} data-expanded={expanded.has(id)} onClick={() => !isSelecting() && toggle(id)}>
                {columns.map((column) =>
                  column.index === 0 ? (
                    <td key={column.id} className={classes.time}>
                      <button
                        type="button"
                        className={classes.toggle}
                        aria-expanded={expanded.has(id)}
                        onClick={(event) => {
                          // The row has the same action.
                          event.stopPropagation();
                          toggle(id);
                        }}
                      >
                        <ChevronIcon size={12} />
                        {formatDateTime(Number(cells[0]), zone)}
                      </button>
                    </td>
                  ) : (
                    <td key={column.id} className={classes.cell}>
                      {series ? (
                        <CellText
                          name={column.name}
                          value={formatCell(cells[column.index])}
                          sourceId={series.sourceId}
                        />
                      ) : (
                        formatCell(cells[column.index])
                      )}
                    </td>
                  ),
                )}
              </tr>
              {series && expanded.has(id) && (
                <tr>
                  <td colSpan={columns.length}>
                    <RowDetails series={series} shown={shown} row={{ cells, occurrence }} />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
      {data.truncated && (
        <p className={classes.quiet}>
          Only the newest {data.rows.length} rows are shown: together, more rows would be too large.
        </p>
      )}
    </ScrollRegion>
  );
}

/** The end of a selection is not a click on the row. */
const isSelecting = (): boolean => window.getSelection()?.type === 'Range';

const toSortValue = (value: unknown): SortValue =>
  typeof value === 'number' || typeof value === 'string' ? value : formatCell(value);

const formatCell = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
