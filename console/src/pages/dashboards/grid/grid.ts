import { tileConstraints } from '../constraints.ts';
import type { Tile } from '../queries.ts';

export const COLUMNS = tileConstraints.w.maximum;
/** In pixels. */
export const ROW_HEIGHT = 30;
export const GAP = 12;
/** Limits the height of a tile on the page; the API accepts more. */
export const MAX_TILE_ROWS = 200;

export interface GridPosition {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Moves tiles into the grid and removes overlaps and empty rows, which files may contain. */
export function arrange(tiles: readonly (GridPosition & { id: string })[]): Map<string, GridPosition> {
  const placed = new Map<string, GridPosition>();
  for (const { id, x, w, h } of tiles.toSorted((a, b) => a.y - b.y || a.x - b.x)) {
    const width = Math.min(Math.max(w, 1), COLUMNS);
    const left = Math.min(Math.max(x, 0), COLUMNS - width);
    const overlapping = [...placed.values()].filter((other) => left < other.x + other.w && other.x < left + width);
    const top = Math.max(0, ...overlapping.map((other) => other.y + other.h));
    placed.set(id, { x: left, y: top, w: width, h: Math.min(Math.max(h, 1), MAX_TILE_ROWS) });
  }
  return placed;
}

/** Reading order, for narrow screens and screen readers. */
export const sortByPosition = (tiles: readonly Tile[]): Tile[] => tiles.toSorted((a, b) => a.y - b.y || a.x - b.x);
