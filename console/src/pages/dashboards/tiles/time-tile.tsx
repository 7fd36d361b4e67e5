import { useMemo } from 'react';
import { formatOf } from '../number-format.ts';
import type { DataOf, Tile } from '../queries.ts';
import { EmptyTile } from './empty-tile.tsx';
import classes from './tiles.module.css';
import { TimeChart } from './time-chart.tsx';
import { linesOf } from './time-series.ts';

interface Props {
  tile: Tile;
  data: DataOf<'time'>;
  zone: string;
  onZoom?: ((start: number, end: number) => void) | undefined;
}

export function TimeTile({ tile, data, zone, onZoom }: Props) {
  const lines = useMemo(() => linesOf(data), [data]);
  const { shown, total } = data.groups;
  const isEmpty = lines.every(({ values }) => values.every((value) => value === null));
  if (isEmpty) return <EmptyTile />;
  return (
    <div className={classes.column}>
      <div className={classes.fill}>
        <TimeChart
          label={`${tile.name || 'Chart'}: ${lines.length} series, one value per ${data.granularity}`}
          lines={lines}
          buckets={data.buckets}
          start={data.start}
          end={data.end}
          zone={zone}
          isBars={tile.series[0]?.displayType === 'stacked_bar'}
          format={formatOf(tile.series)}
          onZoom={onZoom}
        />
      </div>
      {total > shown && (
        <div className={classes.foot}>
          The {shown} largest of {total} groups
        </div>
      )}
    </div>
  );
}
