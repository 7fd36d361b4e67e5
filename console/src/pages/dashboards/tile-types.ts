import type { GetDashboardVersionResult, GetTileDataResult } from '../../api/generated.ts';

/** In the form with series, which the console uses. */
export type Dashboard = GetDashboardVersionResult['dashboard'];
export type Tile = Dashboard['tiles'][number];
export type Series = Tile['series'][number];
export type TileType = Series['type'];
export type TileData = GetTileDataResult;
export type TileDataByType<Type extends TileType> = Extract<TileData, { type: Type }>;
