import type { GetDashboardResult } from '../../../api/generated.ts';
import { seriesConstraints } from '../constraints.ts';
import { arrange, COLUMNS } from '../grid.ts';
import type { DashboardBody, Series, Tile, TileType } from '../queries.ts';

/** The edited dashboard; its ID does not change. */
export type Draft = Omit<GetDashboardResult, 'id'>;

const TILE_TYPE_LABELS: Record<TileType, string> = {
  time: 'Time series',
  table: 'Table',
  number: 'Number',
  search: 'Search',
  markdown: 'Text',
};
export const TILE_TYPES = seriesConstraints.type.values.map((value) => ({ value, label: TILE_TYPE_LABELS[value] }));

const SIZES: Record<TileType, { w: number; h: number }> = {
  time: { w: 12, h: 6 },
  number: { w: 6, h: 4 },
  table: { w: 12, h: 7 },
  search: { w: 24, h: 8 },
  markdown: { w: 12, h: 4 },
};

/** Tiles start at the positions at which the view shows them. */
export function toDraft({ name, tags, tiles }: GetDashboardResult): Draft {
  const places = arrange(tiles);
  return { name, tags, tiles: tiles.map((tile) => ({ ...tile, ...places.get(tile.id) })) };
}

export const toRequestBody = ({ name, tags, tiles }: Draft): DashboardBody => ({ name, tags, tiles });

export function createSeries(type: TileType, sourceId: string): Series {
  const base = { type, where: '', whereLanguage: 'lucene' as const, groupBy: [] };
  if (type === 'markdown') return { ...base, content: '' };
  if (type === 'search') return { ...base, sourceId, fields: [] };
  return { ...base, sourceId, aggFn: 'count', ...(type === 'time' ? { displayType: 'line' as const } : {}) };
}

export function createTile(draft: Draft, type: TileType, sourceId: string): Tile {
  return {
    id: createId(),
    name: '',
    asRatio: false,
    x: 0,
    y: findBottomRow(draft),
    ...SIZES[type],
    series: [createSeries(type, sourceId)],
  };
}

/** Right of the original if it fits, else below all tiles. */
export function duplicateTile(draft: Draft, tile: Tile): Tile {
  const fitsRight = tile.x + 2 * tile.w <= COLUMNS;
  const place = fitsRight ? { x: tile.x + tile.w, y: tile.y } : { x: 0, y: findBottomRow(draft) };
  return { ...structuredClone(tile), ...place, id: createId(), name: tile.name === '' ? '' : `${tile.name} (copy)` };
}

const findBottomRow = ({ tiles }: Draft): number => Math.max(0, ...tiles.map(({ y, h }) => y + h));

const createId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Keeps the settings that the new type supports. */
export function changeTileType(tile: Tile, type: TileType, sourceId: string): Tile {
  const series = tile.series.map((one) => {
    const defaults = createSeries(type, one.sourceId ?? sourceId);
    const common = type === 'markdown' ? {} : pick(one, ['where', 'whereLanguage', 'groupBy', 'alias', 'numberFormat']);
    const aggregation = ['time', 'number', 'table'].includes(type)
      ? pick(one, ['aggFn', 'field', 'level', 'metricName', 'metricDataType', 'dataSource'])
      : {};
    return { ...defaults, ...common, ...aggregation, type };
  });
  const isSingle = type === 'markdown' || type === 'search';
  return { ...tile, asRatio: isSingle ? false : tile.asRatio, series: isSingle ? series.slice(0, 1) : series };
}

const pick = <T extends object>(value: T, names: (keyof T)[]): Partial<T> =>
  Object.fromEntries(
    names.filter((name) => value[name] !== undefined).map((name) => [name, value[name]]),
  ) as Partial<T>;
