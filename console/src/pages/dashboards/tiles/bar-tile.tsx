import { useMemo } from 'react';
import { ScrollRegion } from '../../../parts/tables/scroll-region.tsx';
import { formatValue, resolveNumberFormat, withUnit } from '../number-format.ts';
import type { Tile } from '../queries.ts';
import { EmptyTile } from './empty-tile.tsx';
import classes from './parts.module.css';
import { type PartsData, toParts } from './parts.ts';
import tileClasses from './tiles.module.css';

interface Props {
  tile: Pick<Tile, 'name' | 'series'>;
  data: Pick<PartsData, 'parts' | 'groups'>;
}

/** One horizontal bar per group. */
export function BarTile({ tile, data }: Props) {
  const parts = useMemo(() => toParts(data), [data]);
  const format = resolveNumberFormat(tile.series);
  const longest = Math.max(...parts.map(({ value }) => Math.abs(value)));
  const { shown, total } = data.groups;
  if (parts.length === 0) return <EmptyTile />;
  return (
    <div className={tileClasses.column}>
      <ScrollRegion className={tileClasses.scroll}>
        <table className={classes.rows} aria-label={tile.name || 'Bars'} data-testid="bars">
          <tbody>
            {parts.map(({ label, value, unit }) => (
              <tr key={label}>
                <th scope="row" title={label}>
                  <span className={classes.label}>{label}</span>
                </th>
                <td className={classes.track} aria-hidden="true">
                  <div
                    className={classes.bar}
                    style={{ width: `${longest === 0 ? 0 : (100 * Math.abs(value)) / longest}%` }}
                  />
                </td>
                <td className="ph-number">{formatValue(value, withUnit(format, unit))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {total > shown && (
        <div className={tileClasses.foot}>
          Top {shown} of {total} groups
        </div>
      )}
    </div>
  );
}
