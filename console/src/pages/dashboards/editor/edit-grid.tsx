import 'react-grid-layout/css/styles.css';
import { useElementSize } from '@mantine/hooks';
import type { ReactNode } from 'react';
import GridLayout, { type Layout } from 'react-grid-layout';
import { COLUMNS, GAP, type GridPosition, ROW_HEIGHT, sortByPosition } from '../grid/grid.ts';
import { TileGrid } from '../grid/tile-grid.tsx';
import type { Tile } from '../queries.ts';
import './edit-grid.css';

interface Props {
  tiles: readonly Tile[];
  onMove: (places: ReadonlyMap<string, GridPosition>) => void;
  children: (tile: Tile) => ReactNode;
}

/** Below this width tiles form a single column without dragging; the fields of a tile still set its position. */
const MIN_GRID_WIDTH_PX = 680;

export function EditGrid({ tiles, onMove, children }: Props) {
  const { ref, width } = useElementSize();
  const reportMove = (layout: Layout) => onMove(new Map(layout.map(({ i, x, y, w, h }) => [i, { x, y, w, h }])));
  return (
    <div ref={ref}>
      {width > 0 && width < MIN_GRID_WIDTH_PX && <TileGrid tiles={tiles}>{children}</TileGrid>}
      {width >= MIN_GRID_WIDTH_PX && (
        <GridLayout
          width={width}
          layout={tiles.map(({ id, x, y, w, h }) => ({ i: id, x, y, w, h }))}
          gridConfig={{ cols: COLUMNS, rowHeight: ROW_HEIGHT, margin: [GAP, GAP], containerPadding: [0, 0] }}
          dragConfig={{ handle: '[data-movable="true"]', cancel: 'button, a, input' }}
          resizeConfig={{ handles: ['se'] }}
          onLayoutChange={reportMove}
        >
          {sortByPosition(tiles).map((tile) => (
            <div key={tile.id} data-tile={tile.id}>
              {children(tile)}
            </div>
          ))}
        </GridLayout>
      )}
    </div>
  );
}
