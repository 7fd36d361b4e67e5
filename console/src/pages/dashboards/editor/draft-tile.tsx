import { ActionIcon, Menu } from '@mantine/core';
import { CopyIcon, DotsIcon, TrashIcon } from '../../../parts/layout/icons.tsx';
import { hasEqualQuery } from '../equality.ts';
import { StoredTile } from '../grid/stored-tile.tsx';
import { TileFrame } from '../grid/tile-frame.tsx';
import { PencilIcon } from '../icons.tsx';
import type { Tile, TimeWindow } from '../queries.ts';
import { TilePreview } from './tile-preview.tsx';

interface Props {
  dashboardId: string;
  tile: Tile;
  /** The stored tile, unless it is new. */
  stored: Tile | undefined;
  window: TimeWindow;
  error: string | undefined;
  onEdit: () => void;
  onCopy: () => void;
  onDelete: () => void;
}

export function DraftTile({ dashboardId, tile, stored, window, error, onEdit, onCopy, onDelete }: Props) {
  const name = tile.name || 'tile';
  const actions = (
    <>
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`Edit ${name}`} onClick={onEdit}>
        <PencilIcon size={14} />
      </ActionIcon>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`More actions for ${name}`}>
            <DotsIcon size={14} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<CopyIcon size={14} />} onClick={onCopy}>
            Duplicate
          </Menu.Item>
          <Menu.Item leftSection={<TrashIcon size={14} />} color="var(--ph-bad)" onClick={onDelete}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
  const isUnchanged = stored && hasEqualQuery(stored, tile);
  if (isUnchanged && error === undefined)
    return <StoredTile dashboardId={dashboardId} tile={tile} window={window} actions={actions} isMovable />;
  return (
    <TileFrame name={tile.name} actions={actions} isMovable>
      {error === undefined ? (
        <TilePreview tile={tile} window={window} />
      ) : (
        <p role="alert" style={{ color: 'var(--ph-bad)', margin: 0, fontSize: 13 }}>
          {error}
        </p>
      )}
    </TileFrame>
  );
}
