import { parseJsonInSlices, stringifyInSlices } from '../../kernel/json/json-slices.ts';
import { toConfigForm } from '../charts/tiles/tile-content.ts';
import type { ConfigTile } from '../charts/tiles/tile-schema.ts';
import type { Dashboard, Format, UnstoredDashboard } from './schema.ts';

/** The JSON of a stored dashboard in the requested form. Other requests run while a large dashboard is converted. */
export async function renderFormat(json: string, format: Format): Promise<string> {
  return format === 'series' ? json : renderConfigForm((await parseJsonInSlices(json)) as Dashboard);
}

/** The dashboard in the format of ClickStack. */
export function renderConfigForm({ tiles, ...dashboard }: UnstoredDashboard): Promise<string> {
  const { filters = [], savedQuery = null, savedFilterValues = [], ...rest } = dashboard;
  return stringifyInSlices({ ...rest, filters, savedQuery, savedFilterValues, tiles: convertTiles(tiles) }, 'tiles');
}

function* convertTiles(tiles: UnstoredDashboard['tiles']): Generator<Omit<ConfigTile, 'id'>> {
  for (const { asRatio, series, config, ...tile } of tiles)
    yield { ...tile, ...toConfigForm({ asRatio, series, ...(config && { config }) }) };
}

/** HTTP requires a different tag for each form of a response. */
export const toFormatEtag = (etag: string, format: Format): string =>
  format === 'series' ? etag : `${etag.slice(0, -1)}.config"`;
