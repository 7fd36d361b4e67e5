import { ActionIcon, Menu } from '@mantine/core';
import { use } from 'react';
import { TileFiltersContext } from '../filters/tile-filters-context.ts';
import { RowsIcon } from '../icons.tsx';
import type { Tile, TimeWindow } from '../queries.ts';
import { listValueRows } from './drill-down.ts';
import { useDrillDown } from './drill-down-context.tsx';
import { RowsMenuItems } from './rows-menu-items.tsx';

/** Leads to the rows of a tile in the whole range. Nothing for metrics, which have no rows. */
export function TileRowsMenu({ tile, window }: { tile: Tile; window: TimeWindow }) {
  const sources = useDrillDown();
  const conditions = use(TileFiltersContext);
  const rows = sources ? listValueRows(tile, { range: window, conditions }, sources) : [];
  if (rows.length === 0) return null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`Rows of ${tile.name || 'tile'}`}>
          <RowsIcon size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <RowsMenuItems rows={rows} zone={window.zone} />
      </Menu.Dropdown>
    </Menu>
  );
}
