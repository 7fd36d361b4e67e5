import { useMemo } from 'react';
import { resolveNumberFormat, withUnit } from '../number-format.ts';
import type { Tile, TileDataByType } from '../queries.ts';
import { EmptyTile } from './empty-tile.tsx';
import { usePointMenu } from './point-menu.tsx';
import classes from './tiles.module.css';
import { TimeChart } from './time-chart.tsx';
import { findCommonUnit, toLines } from './time-series.ts';

interface Props {
  tile: Tile;
  data: TileDataByType<'time'>;
  zone: string;
  onZoom?: ((start: number, end: number) => void) | undefined;
}

export function TimeTile({ tile, data, zone, onZoom }: Props) {
  const fillNulls = tile.config?.fillNulls;
  const lines = useMemo(() => toLines(data, fillNulls), [data, fillNulls]);
  const { menu, onPick } = usePointMenu({ tile, data, lines, zone });
  const { shown, total } = data.groups;
  const isEmpty = data.series.every(({ values }) => values.every((value) => value === null));
  if (isEmpty) return <EmptyTile />;
  return (
    <div className={classes.column}>
      <div className={classes.fill}>
        <TimeChart
          label={`${tile.name || 'Chart'}: ${lines.length} series, interval ${data.granularity}${data.partialBuckets ? ', some intervals incomplete' : ''}`}
          lines={lines}
          buckets={data.buckets}
          start={data.start}
          end={data.end}
          zone={zone}
          drawing={tile.series[0]?.displayType ?? 'line'}
          format={withUnit(resolveNumberFormat(tile.series), findCommonUnit(data))}
          partialBuckets={data.partialBuckets}
          onZoom={onZoom}
          onPick={onPick}
          menu={menu}
        />
      </div>
      {total > shown && (
        <div className={classes.foot}>
          Top {shown} of {total} groups
        </div>
      )}
    </div>
  );
}
