import { useComputedColorScheme } from '@mantine/core';
import type { Previous } from '../compare/previous.ts';
import { PreviousValue } from '../compare/previous-value.tsx';
import { formatValue, resolveNumberFormat, withUnit } from '../number-format.ts';
import type { Tile, TileDataByType } from '../queries.ts';
import { EmptyTile } from './empty-tile.tsx';
import { chooseNumberColor } from './number-color.ts';
import classes from './tiles.module.css';

interface Props {
  tile: Tile;
  data: TileDataByType<'number'>;
  previous?: Previous | undefined;
}

/** Shows the first series large and the others below it. */
export function NumberTile({ tile, data, previous }: Props) {
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
      {previous && <PreviousValue tile={tile} data={data} previous={previous} format={withUnit(format, first.unit)} />}
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
