import type { Static } from 'typebox';
import { listSeriesViolations, normalizeSeries, pickProperties } from '../charts/series.ts';
import { GRID_COLUMNS, type Tile, TileBody } from '../charts/tile-schema.ts';
import type { Violation } from '../kernel/errors.ts';
import { deriveUuid } from '../kernel/ids.ts';
import { stringifyInSlices } from '../kernel/json-slices.ts';
import type { Dashboard, DashboardBody } from './schema.ts';

/** Creates the id of a tile. Called with increasing `attempt` until the id is unused. */
type CreateTileId = (index: number, attempt: number) => string;

/** Derives the id from the position of the tile, so that files without tile ids get the same ids every time. */
const deriveTileIds =
  (id: string): CreateTileId =>
  (index, attempt) =>
    deriveUuid(id, attempt === 0 ? String(index) : `${index}.${attempt}`)
      .replaceAll('-', '')
      .slice(0, 24);

/**
 * Adds the defaults of all members that are always present (decision D4). Members are in the order of the schema, so that
 * equal dashboards have equal JSON.
 */
export function normalizeDashboard(
  id: string,
  body: DashboardBody,
  tileIds: CreateTileId = deriveTileIds(id),
): Dashboard {
  const usedIds = new Set(body.tiles?.flatMap((tile) => tile.id ?? []));
  const createUnusedId = (index: number): string => {
    for (let attempt = 0; ; attempt++) {
      const id = tileIds(index, attempt);
      if (usedIds.has(id)) continue;
      usedIds.add(id);
      return id;
    }
  };
  const tiles = (body.tiles ?? []).map((tile, index) => normalizeTile(tile, tile.id ?? createUnusedId(index)));
  return { id, name: body.name, tags: [...new Set(body.tags)], tiles };
}

function normalizeTile(tile: Static<typeof TileBody>, id: string): Tile {
  const known = pickProperties(TileBody.properties, tile, { id, name: '', asRatio: false });
  return { ...known, series: tile.series.map(normalizeSeries) };
}

/** The JSON that is stored and returned. Other requests run while a large dashboard is rendered. */
export const renderDashboard = (dashboard: object & { tiles: object[] }): Promise<string> =>
  stringifyInSlices(dashboard, 'tiles');

/** Checks rules across several members. The schema checks each member. */
export function listDashboardViolations({ tiles = [] }: DashboardBody): Violation[] {
  const uniqueIds = new Set<string>();
  return tiles.flatMap((tile, index) => {
    const path = `tiles[${index}].`;
    const violations = listSeriesViolations(tile.series, path);
    const report = (member: string, rule: string, value: unknown) =>
      violations.push({ path: `${path}${member}`, rule, value });
    if (tile.id !== undefined && uniqueIds.has(tile.id))
      report('id', 'The id must be unique in the dashboard', tile.id);
    if (tile.id !== undefined) uniqueIds.add(tile.id);
    if (tile.x + tile.w > GRID_COLUMNS)
      report('w', `The tile must end within ${GRID_COLUMNS} columns`, tile.x + tile.w);
    return violations;
  });
}

/** Every reference to a source that does not exist. */
export function listSourceIdViolations({ tiles = [] }: DashboardBody, known: ReadonlySet<string>): Violation[] {
  return tiles.flatMap((tile, index) =>
    tile.series.flatMap(({ sourceId }, at) =>
      sourceId === undefined || known.has(sourceId)
        ? []
        : [{ path: `tiles[${index}].series[${at}].sourceId`, rule: 'The source does not exist', value: sourceId }],
    ),
  );
}

/** By name descending in byte order, then by id. */
export function compareByName(a: Pick<Dashboard, 'id' | 'name'>, b: Pick<Dashboard, 'id' | 'name'>): number {
  return Buffer.compare(Buffer.from(b.name), Buffer.from(a.name)) || (a.id < b.id ? -1 : 1);
}

/** The audit log contains a summary; versions contain the whole dashboard. */
export function summarizeForAudit({ name, tags, tiles }: Dashboard, version: number | undefined) {
  return { name, tags, tiles: tiles.length, ...(version === undefined ? {} : { version }) };
}
