import { formatValue, resolveNumberFormat, withUnit } from '../number-format.ts';
import type { Tile, TileDataByType } from '../queries.ts';
import { EmptyTile } from './empty-tile.tsx';
import classes from './tiles.module.css';

/** Shows the first series large and the others below it. */
export function NumberTile({ tile, data }: { tile: Tile; data: TileDataByType<'number'> }) {
  const format = resolveNumberFormat(tile.series);
  const [first, ...others] = data.series;
  if (!first || data.series.every(({ value }) => value === null)) return <EmptyTile />;
  return (
    <div className={classes.center}>
      <div className={classes.number} data-testid="number" title={String(first.value ?? '')}>
        {formatValue(first.value, withUnit(format, first.unit))}
      </div>
      {others.length > 0 && (
        <dl className={classes.others}>
          {others.map(({ name, value, unit }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd className="ph-number">{formatValue(value, withUnit(format, unit))}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
