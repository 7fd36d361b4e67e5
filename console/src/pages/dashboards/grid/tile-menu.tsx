import { ActionIcon, Menu } from '@mantine/core';
import { saveFile } from '../../../parts/forms/save-file.ts';
import { DotsIcon, DownloadIcon } from '../../../parts/layout/icons.tsx';
import type { Previous } from '../compare/previous.ts';
import { toFileName } from '../files.ts';
import type { Tile, TileData } from '../queries.ts';
import { toCsv } from '../tiles/tile-csv.ts';
import { CreateAlertItem } from './create-alert-item.tsx';

interface Props {
  dashboardId: string;
  tile: Tile;
  /** What the tile shows; undefined while it is loading. */
  data: TileData | undefined;
  previous: Previous | undefined;
}

/** What can be done with the data of a tile. */
export function TileMenu({ dashboardId, tile, data, previous }: Props) {
  const download = () => {
    const csv = data && toCsv(tile, data, previous);
    if (csv !== undefined) saveFile(`${toFileName(tile.name, tile.id)}.csv`, 'text/csv', csv);
  };
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`More actions for ${tile.name || 'tile'}`}>
          <DotsIcon size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<DownloadIcon size={14} />} disabled={data === undefined} onClick={download}>
          Download as CSV
        </Menu.Item>
        <CreateAlertItem dashboardId={dashboardId} tile={tile} />
      </Menu.Dropdown>
    </Menu>
  );
}
