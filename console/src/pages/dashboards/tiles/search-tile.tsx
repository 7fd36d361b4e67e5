import { useState } from 'react';
import { ChevronIcon } from '../../../parts/icons.tsx';
import { ScrollRegion } from '../../../parts/scroll-region.tsx';
import { getDirection, SortButton, type SortValue, sortRows, useSorting } from '../../../parts/sorting.tsx';
import { formatDateTime } from '../../../parts/times.ts';
import type { TileDataByType } from '../queries.ts';
import { EmptyTile } from './empty-tile.tsx';
import classes from './tiles.module.css';

/** The newest rows. Expanded rows show their full text. */
export function SearchTile({ data, zone }: { data: TileDataByType<'search'>; zone: string }) {
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set());
  const { sorting, toggle: sort } = useSorting();
  if (data.rows.length === 0) return <EmptyTile />;
  // The timestamp is always the first column; skip it if it is also selected.
  const columns = data.columns
    .map(({ name }, index) => ({ name, index, id: `${index} ${name}` }))
    .filter(({ name, index }) => index === 0 || name !== data.columns[0]?.name);
  const rows = sortRows(
    data.rows.map((cells, index) => ({ cells, id: `${index} ${JSON.stringify(cells)}` })),
    sorting,
    ({ cells }, column) => toSortValue(cells[columns.find(({ id }) => id === column)?.index ?? 0]),
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
          {rows.map(({ id, cells }) => (
            <tr key={id} data-expanded={expanded.has(id)}>
              {columns.map((column) =>
                column.index === 0 ? (
                  <td key={column.id} className={classes.time}>
                    <button
                      type="button"
                      className={classes.toggle}
                      aria-expanded={expanded.has(id)}
                      onClick={() => toggle(id)}
                    >
                      <ChevronIcon size={12} />
                      {formatDateTime(Number(cells[0]), zone)}
                    </button>
                  </td>
                ) : (
                  <td key={column.id} className={classes.cell}>
                    {formatCell(cells[column.index])}
                  </td>
                ),
              )}
            </tr>
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

const toSortValue = (value: unknown): SortValue =>
  typeof value === 'number' || typeof value === 'string' ? value : formatCell(value);

const formatCell = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
