import { seriesConstraints } from '../constraints.ts';
import { arrange, COLUMNS } from '../grid/grid.ts';
import type { Dashboard, DashboardBody, Series, Tile, TileType } from '../queries.ts';

/** The edited members of a dashboard; the server keeps the others. */
export interface Draft extends Pick<Dashboard, 'name' | 'tags' | 'tiles'> {
  filters: NonNullable<Dashboard['filters']>;
  savedFilterValues: NonNullable<Dashboard['savedFilterValues']>;
  /** Empty: none. */
  savedQuery: string;
  savedQueryLanguage: 'lucene' | 'sql';
}

const TILE_TYPE_LABELS: Record<TileType, string> = {
  time: 'Time series',
  table: 'Table',
  number: 'Number',
  pie: 'Pie',
  bar: 'Bars',
  heatmap: 'Heatmap',
  histogram: 'Histogram',
  search: 'Search',
  markdown: 'Text',
};
export const TILE_TYPES = seriesConstraints.type.values.map((value) => ({ value, label: TILE_TYPE_LABELS[value] }));

const SIZES: Record<TileType, { w: number; h: number }> = {
  time: { w: 12, h: 6 },
  number: { w: 6, h: 4 },
  table: { w: 12, h: 7 },
  pie: { w: 8, h: 6 },
  bar: { w: 12, h: 6 },
  heatmap: { w: 12, h: 6 },
  histogram: { w: 12, h: 6 },
  search: { w: 24, h: 8 },
  markdown: { w: 12, h: 4 },
};

/** Tiles start at the positions at which the view shows them. */
export function toDraft(dashboard: Dashboard): Draft {
  const { name, tags, tiles, filters = [], savedFilterValues = [], savedQuery, savedQueryLanguage } = dashboard;
  const places = arrange(tiles);
  return {
    name,
    tags,
    tiles: tiles.map((tile) => ({ ...tile, ...places.get(tile.id) })),
    filters,
    savedFilterValues,
    savedQuery: savedQuery ?? '',
    savedQueryLanguage: savedQueryLanguage ?? 'lucene',
  };
}

export const toRequestBody = ({ savedQuery, savedQueryLanguage, ...draft }: Draft): DashboardBody => ({
  ...draft,
  savedQuery: savedQuery.trim() === '' ? null : savedQuery,
  savedQueryLanguage,
});

export function createSeries(type: TileType, sourceId: string): Series {
  const base = { type, where: '', whereLanguage: 'lucene' as const, groupBy: [] };
  if (type === 'markdown') return { ...base, content: '' };
  if (type === 'search') return { ...base, sourceId, fields: [] };
  if (isDistribution(type)) return { ...base, sourceId, field: '' };
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

export const createId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Shows how the values of a field are distributed, without an aggregation. */
export const isDistribution = (type: TileType): boolean => type === 'heatmap' || type === 'histogram';

/** A heatmap with an aggregation has a row per group instead. */
export const showsDistribution = ({ type, aggFn }: Series): boolean => isDistribution(type) && aggFn === undefined;

const AGGREGATED: readonly TileType[] = ['time', 'number', 'table', 'pie', 'bar'];
export const isAggregated = (type: TileType): boolean => AGGREGATED.includes(type);

/** The tile without settings that only the ClickStack format has: they would contradict a changed query. */
export function withoutConfig({ config: _, ...tile }: Tile): Tile {
  return tile;
}

/** Keeps the settings that the new type supports. */
export function changeTileType(tile: Tile, type: TileType, sourceId: string): Tile {
  const series = tile.series.map((one) => {
    const defaults = createSeries(type, one.sourceId ?? sourceId);
    const common = type === 'markdown' ? {} : pick(one, ['where', 'whereLanguage', 'groupBy', 'alias', 'numberFormat']);
    const aggregation = isAggregated(type)
      ? pick(one, ['aggFn', 'field', 'level', 'metricName', 'metricDataType', 'dataSource'])
      : isDistribution(type)
        ? pick(one, ['field'])
        : {};
    return { ...defaults, ...common, ...aggregation, type };
  });
  const isSingle = !isAggregated(type);
  return {
    ...withoutConfig(tile),
    asRatio: isSingle ? false : tile.asRatio,
    series: isSingle ? series.slice(0, 1) : series,
  };
}

const pick = <T extends object>(value: T, names: (keyof T)[]): Partial<T> =>
  Object.fromEntries(
    names.filter((name) => value[name] !== undefined).map((name) => [name, value[name]]),
  ) as Partial<T>;
