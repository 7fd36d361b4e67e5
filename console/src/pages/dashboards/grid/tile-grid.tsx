import type { CSSProperties, ReactNode } from 'react';
import classes from '../dashboard.module.css';
import type { Tile } from '../queries.ts';
import { arrange, sortByPosition } from './grid.ts';

/** Tiles at their grid positions; a single column on narrow screens. */
export function TileGrid({ tiles, children }: { tiles: readonly Tile[]; children: (tile: Tile) => ReactNode }) {
  const places = arrange(tiles);
  return (
    <div className={classes.grid}>
      {sortByPosition(tiles).map((tile) => {
        const { x, y, w, h } = places.get(tile.id) ?? tile;
        const style = {
          '--column': `${x + 1} / span ${w}`,
          '--row': `${y + 1} / span ${h}`,
          '--rows': h,
        } as CSSProperties;
        return (
          <div key={tile.id} className={classes.cell} style={style} data-tile={tile.id}>
            {children(tile)}
          </div>
        );
      })}
    </div>
  );
}
