import { Menu } from '@mantine/core';
import { type ReactNode, use, useMemo, useState } from 'react';
import { formatDateTime } from '../../../../parts/format/times.ts';
import { listValueRows } from '../../drill-down/drill-down.ts';
import { useDrillDown } from '../../drill-down/drill-down-context.tsx';
import { RowsMenuItems } from '../../drill-down/rows-menu-items.tsx';
import { TileFiltersContext } from '../../filters/tile-filters-context.ts';
import type { Tile, TileDataByType } from '../../queries.ts';
import type { PickedPoint } from './pick-point.ts';
import classes from './time-chart.module.css';
import type { Line } from './time-series.ts';

interface Options {
  tile: Tile;
  data: TileDataByType<'time'>;
  lines: readonly Line[];
  zone: string;
}

/** Where a point of the tile leads to. `onPick` is undefined if its series have no rows. */
export function usePointMenu({ tile, data, lines, zone }: Options): {
  menu: ReactNode;
  onPick: ((point: PickedPoint) => void) | undefined;
} {
  const sources = useDrillDown();
  const conditions = use(TileFiltersContext);
  const [picked, setPicked] = useState<PickedPoint & { data: Options['data'] }>();
  const hasRows = useMemo(
    () => sources !== undefined && listValueRows(tile, { range: data, conditions }, sources).length > 0,
    [tile, data, sources, conditions],
  );
  if (!sources || !hasRows) return { menu: null, onPick: undefined };
  const onPick = (point: PickedPoint) => setPicked({ ...point, data });
  // A point of older data may be another one now.
  const series = picked?.data === data ? data.series[picked.line] : undefined;
  const start = picked && data.buckets[picked.bucket];
  if (!picked || !series || series.isOthers || start === undefined) return { menu: null, onPick };
  const range = { start, end: data.buckets[picked.bucket + 1] ?? data.end };
  const { seriesIndex, group } = series;
  const rows = listValueRows(tile, { seriesIndex, group, range, conditions }, sources);
  const name = `${lines[picked.line]?.label} at ${formatDateTime(start, zone)}`;
  const menu = (
    <Menu opened onClose={() => setPicked(undefined)} position="bottom-start" offset={4} returnFocus>
      <Menu.Target>
        <button
          type="button"
          tabIndex={-1}
          aria-label={name}
          className={classes.pickedAt}
          style={{ left: picked.left, top: picked.top }}
        />
      </Menu.Target>
      <Menu.Dropdown aria-label={name}>
        <Menu.Label>
          {lines[picked.line]?.label}
          <br />
          {formatDateTime(range.start, zone)} – {formatDateTime(range.end, zone)}
        </Menu.Label>
        <RowsMenuItems rows={rows} zone={zone} />
      </Menu.Dropdown>
    </Menu>
  );
  return { menu, onPick };
}
