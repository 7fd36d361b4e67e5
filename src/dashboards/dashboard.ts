import type { Static } from 'typebox';
import { MISSING, type Violation } from '../kernel/errors.ts';
import { derivedUuid } from '../kernel/ids.ts';
import { type Dashboard, type DashboardBody, GRID_COLUMNS, SeriesBody, TileBody } from './schema.ts';

/** Fills in what is always present (decision D4); what was given stays as it was given. */
export function completed(id: string, body: DashboardBody): Dashboard {
  const tiles = (body.tiles ?? []).map((tile, index) => ({
    ...known(TileBody.properties, tile),
    id: tile.id ?? derivedUuid(id, String(index)).replaceAll('-', '').slice(0, 24),
    name: tile.name ?? '',
    asRatio: tile.asRatio ?? false,
    series: tile.series.map((series) => ({
      ...known(SeriesBody.properties, series),
      where: series.where ?? '',
      whereLanguage: series.whereLanguage ?? ('lucene' as const),
      groupBy: series.groupBy ?? [],
    })),
  }));
  return { id, name: body.name, tags: body.tags ?? [], tiles };
}

/** Members that the interface does not name are ignored, and so not stored. */
function known<T extends object>(properties: object, value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(properties, name))) as T;
}

/** The rules that tie several members together; the schema has looked at each on its own. */
export function dashboardViolations({ tiles = [] }: DashboardBody): Violation[] {
  const seen = new Set<string>();
  return tiles.flatMap((tile, index) => {
    const violations = tile.series.flatMap((series, at) => seriesViolations(series, `tiles[${index}].series[${at}]`));
    const broken = (member: string, rule: string, value: unknown) =>
      violations.push({ path: `tiles[${index}].${member}`, rule, value });
    if (tile.id !== undefined && seen.has(tile.id)) broken('id', 'The id must be unique in the dashboard', tile.id);
    if (tile.id !== undefined) seen.add(tile.id);
    if (tile.x + tile.w > GRID_COLUMNS)
      broken('w', `The tile must end within ${GRID_COLUMNS} columns`, tile.x + tile.w);
    if (new Set(tile.series.map(({ type }) => type)).size > 1)
      broken('series', 'All series of a tile must have the same type', tile.series);
    return violations;
  });
}

function seriesViolations(series: Static<typeof SeriesBody>, path: string): Violation[] {
  const needs = (member: keyof typeof series): Violation[] =>
    series[member] === undefined
      ? [{ path: `${path}.${member}`, rule: `The value is required for type ${series.type}`, value: MISSING }]
      : [];
  switch (series.type) {
    case 'markdown':
      return needs('content');
    case 'search':
      return needs('fields');
    default:
      return [...needs('aggFn'), ...(series.aggFn === 'quantile' ? needs('level') : [])];
  }
}

/** By name descending, as bytes; then by id. */
export function inListOrder(a: Dashboard, b: Dashboard): number {
  return Buffer.compare(Buffer.from(b.name), Buffer.from(a.name)) || (a.id < b.id ? -1 : 1);
}
