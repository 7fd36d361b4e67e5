import { completedSeries, pickKnown, seriesViolations } from '../charts/series.ts';
import { GRID_COLUMNS, TileBody } from '../charts/tile-schema.ts';
import type { Violation } from '../kernel/errors.ts';
import { deriveUuid } from '../kernel/ids.ts';
import type { Dashboard, DashboardBody } from './schema.ts';

/** Makes the id of a tile that has none; the second number goes up until the id is free. */
type TileIds = (index: number, attempt: number) => string;

/** Always the same for the same place in the same dashboard, so that a file may leave tile ids out and stay stable. */
const derivedTileIds =
  (id: string): TileIds =>
  (index, attempt) =>
    deriveUuid(id, attempt === 0 ? String(index) : `${index}.${attempt}`)
      .replaceAll('-', '')
      .slice(0, 24);

/**
 * Fills in what is always present (decision D4); what was given stays as it was given. Members come in the order of
 * the schema, so that two dashboards that mean the same are the same text.
 */
export function completed(id: string, body: DashboardBody, tileIds: TileIds = derivedTileIds(id)): Dashboard {
  const taken = new Set(body.tiles?.flatMap((tile) => tile.id ?? []));
  const freeId = (index: number): string => {
    for (let attempt = 0; ; attempt++) {
      const made = tileIds(index, attempt);
      if (taken.has(made)) continue;
      taken.add(made);
      return made;
    }
  };
  const tiles = (body.tiles ?? []).map((tile, index) =>
    pickKnown(TileBody.properties, {
      ...tile,
      id: tile.id ?? freeId(index),
      name: tile.name ?? '',
      asRatio: tile.asRatio ?? false,
      series: tile.series.map(completedSeries),
    }),
  );
  return { id, name: body.name, tags: [...new Set(body.tags)], tiles };
}

/** The rules that tie several members together; the schema has looked at each on its own. */
export function dashboardViolations({ tiles = [] }: DashboardBody): Violation[] {
  const seen = new Set<string>();
  return tiles.flatMap((tile, index) => {
    const path = `tiles[${index}].`;
    const violations = seriesViolations(tile.series, path);
    const broken = (member: string, rule: string, value: unknown) =>
      violations.push({ path: `${path}${member}`, rule, value });
    if (tile.id !== undefined && seen.has(tile.id)) broken('id', 'The id must be unique in the dashboard', tile.id);
    if (tile.id !== undefined) seen.add(tile.id);
    if (tile.x + tile.w > GRID_COLUMNS)
      broken('w', `The tile must end within ${GRID_COLUMNS} columns`, tile.x + tile.w);
    return violations;
  });
}

/** Every place that names a source which is not there. */
export function sourceIdViolations({ tiles = [] }: DashboardBody, known: ReadonlySet<string>): Violation[] {
  return tiles.flatMap((tile, index) =>
    tile.series.flatMap(({ sourceId }, at) =>
      sourceId === undefined || known.has(sourceId)
        ? []
        : [{ path: `tiles[${index}].series[${at}].sourceId`, rule: 'There is no such source', value: sourceId }],
    ),
  );
}

/** By name descending, as bytes; then by id. */
export function inListOrder(a: Pick<Dashboard, 'id' | 'name'>, b: Pick<Dashboard, 'id' | 'name'>): number {
  return Buffer.compare(Buffer.from(b.name), Buffer.from(a.name)) || (a.id < b.id ? -1 : 1);
}

/** As the audit trail holds it: the versions have the rest. */
export function dashboardInTrail({ name, tags, tiles }: Dashboard, version: number | undefined) {
  return { name, tags, tiles: tiles.length, ...(version === undefined ? {} : { version }) };
}
