import { ScrollRegion } from '../../../parts/tables/scroll-region.tsx';
import { getDirection, SortButton, sortRows, useSorting } from '../../../parts/tables/sorting.tsx';
import { formatValue, resolveNumberFormat, withUnit } from '../number-format.ts';
import type { Tile, TileDataByType } from '../queries.ts';
import { EmptyTile } from './empty-tile.tsx';
import classes from './tiles.module.css';

export function TableTile({ tile, data }: { tile: Tile; data: TileDataByType<'table'> }) {
  const format = resolveNumberFormat(tile.series);
  const { sorting, toggle } = useSorting();
  const { shown, total } = data.groups;
  if (data.rows.length === 0) return <EmptyTile />;
  const columns = data.columns.map((column, index) => ({ ...column, id: `${index} ${column.name}` }));
  const rows = sortRows(
    data.rows.map((cells, index) => ({ cells, id: `${index} ${cells[0]}` })),
    sorting,
    ({ cells }, column) => cells[columns.findIndex(({ id }) => id === column)],
  );
  return (
    <div className={classes.column}>
      <ScrollRegion className={classes.scroll}>
        <table className={classes.table}>
          <thead>
            <tr>
              {columns.map(({ id, name, kind }) => (
                <th key={id} scope="col" data-kind={kind} aria-sort={getDirection(sorting, id)}>
                  <SortButton
                    direction={getDirection(sorting, id)}
                    align={kind === 'value' ? 'right' : 'left'}
                    onSort={() => toggle(id, kind === 'value' ? 'descending' : 'ascending')}
                  >
                    {name}
                  </SortButton>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ id, cells }) => (
              <tr key={id}>
                {columns.map((column, index) => (
                  <td key={column.id} data-kind={column.kind} title={String(cells[index] ?? '')}>
                    {column.kind === 'value'
                      ? formatValue(cells[index], withUnit(format, column.unit))
                      : String(cells[index] ?? '') || '(empty)'}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {total > shown && (
        <div className={classes.foot}>
          Top {shown} of {total} groups
        </div>
      )}
    </div>
  );
}
