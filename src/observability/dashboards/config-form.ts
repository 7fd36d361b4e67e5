import { yieldToEventLoop } from '../../kernel/tasks/event-loop.ts';
import { toConfigForm } from '../charts/tiles/tile-content.ts';
import type { ConfigTile } from '../charts/tiles/tile-schema.ts';
import type { Dashboard, Format, UnstoredDashboard } from './schema.ts';

/** The JSON of a stored dashboard in the requested form. */
export const renderFormat = (json: string, format: Format): string =>
  format === 'series' ? json : renderConfigForm(JSON.parse(json) as Dashboard);

/** One after the other, so that other requests run in between: all dashboards together may have megabytes. */
export async function renderAll(all: readonly { json: string }[], format: Format): Promise<string[]> {
  const rendered: string[] = [];
  for (const { json } of all) {
    rendered.push(renderFormat(json, format));
    if (format !== 'series') await yieldToEventLoop();
  }
  return rendered;
}

/** The dashboard in the format of ClickStack. */
export function renderConfigForm({ tiles, ...dashboard }: UnstoredDashboard): string {
  const { filters = [], savedQuery = null, savedFilterValues = [], ...rest } = dashboard;
  return JSON.stringify({ ...rest, filters, savedQuery, savedFilterValues, tiles: tiles.map(toConfigTile) });
}

const toConfigTile = ({
  asRatio,
  series,
  config,
  ...tile
}: UnstoredDashboard['tiles'][number]): Omit<ConfigTile, 'id'> => ({
  ...tile,
  ...toConfigForm({ asRatio, series, ...(config && { config }) }),
});

/** HTTP requires a different tag for each form of a response. */
export const toFormatEtag = (etag: string, format: Format): string =>
  format === 'series' ? etag : `${etag.slice(0, -1)}.config"`;
