import { useComputedColorScheme } from '@mantine/core';
import { formatValue, resolveNumberFormat, withUnit } from '../number-format.ts';
import type { Tile, TileDataByType } from '../queries.ts';
import { EmptyTile } from './empty-tile.tsx';
import { chooseNumberColor } from './number-color.ts';
import classes from './tiles.module.css';

/** Shows the first series large and the others below it. */
export function NumberTile({ tile, data }: { tile: Tile; data: TileDataByType<'number'> }) {
  const format = resolveNumberFormat(tile.series);
  const isDark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark';
  const [first, ...others] = data.series;
  if (!first || data.series.every(({ value }) => value === null)) return <EmptyTile />;
  return (
    <div className={classes.center}>
      <div
        className={classes.number}
        style={{ color: chooseNumberColor(tile.config, first.value, isDark) }}
        data-testid="number"
        title={String(first.value ?? '')}
      >
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
