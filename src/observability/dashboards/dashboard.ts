import { isDeepStrictEqual } from 'node:util';
import type { Violation } from '../../kernel/errors.ts';
import { deriveUuid } from '../../kernel/ids.ts';
import { pickMembers } from '../../kernel/json/pick-members.ts';
import { formatBytes } from '../../kernel/numbers/bytes.ts';
import { pickProperties } from '../charts/series.ts';
import {
  keepOtherForm,
  listContentViolations,
  normalizeContent,
  type TileContent,
} from '../charts/tiles/tile-content.ts';
import { GRID_COLUMNS, type Tile, TileBody } from '../charts/tiles/tile-schema.ts';
import { listContainerViolations } from './containers.ts';
import { type Dashboard, type DashboardBody, KeptMembers } from './schema.ts';

/** Creates the id of a tile or filter. Called with increasing `attempt` until the id is unused. */
type CreateId = (index: number, attempt: number) => string;

/** Derives the id from the position, so that files without ids get the same ids every time. */
const deriveIds =
  (id: string): CreateId =>
  (index, attempt) =>
    deriveUuid(id, attempt === 0 ? String(index) : `${index}.${attempt}`)
      .replaceAll('-', '')
      .slice(0, 24);

/** The id of each element: its own, or a new one that no other element has. */
function chooseIds(list: readonly { id?: string }[], createId: CreateId): string[] {
  const usedIds = new Set(list.flatMap(({ id }) => id ?? []));
  const createUnusedId = (index: number): string => {
    for (let attempt = 0; ; attempt++) {
      const id = createId(index, attempt);
      if (usedIds.has(id)) continue;
      usedIds.add(id);
      return id;
    }
  };
  return list.map(({ id }, index) => id ?? createUnusedId(index));
}

/**
 * Adds the defaults of all members that are always present (decision D4). Members are in the order of the schema, so that
 * equal dashboards have equal JSON.
 */
export function normalizeDashboard(id: string, body: DashboardBody, createId: CreateId = deriveIds(id)): Dashboard {
  const { tiles = [] } = body;
  const tileIds = chooseIds(tiles, createId);
  return {
    ...normalizeMembers(id, body, createId),
    tiles: tiles.map((tile, index) => normalizeTile(tile, tileIds[index] as string)),
  };
}

const normalizeMembers = (id: string, body: DashboardBody, createId: CreateId) => ({
  id,
  name: body.name,
  tags: [...new Set(body.tags)],
  ...normalizeKept(body, createId),
});

/** Empty members are left out, like those that were never set. */
function normalizeKept(body: DashboardBody, createId: CreateId) {
  const { filters = [], savedQuery, savedQueryLanguage, ...kept } = pickMembers(KeptMembers, body) as KeptMembers;
  const filterIds = chooseIds(filters, createId);
  const lists = Object.entries(kept).filter(([, list]) => list.length > 0);
  return {
    ...(filters.length > 0 && {
      filters: filters.map(({ id: _, ...filter }, index) => ({ id: filterIds[index] as string, ...filter })),
    }),
    ...(typeof savedQuery === 'string' && {
      savedQuery,
      savedQueryLanguage: savedQueryLanguage ?? ('lucene' as const),
    }),
    ...Object.fromEntries(lists),
  };
}

const normalizeTile = (tile: TileBody, id: string): Tile => toTile(tile, id, normalizeContent(tile));

function toTile(tile: TileBody, id: string, { config, ...content }: TileContent): Tile {
  const { ignoresFilters, ...members } = tile;
  const given = { ...members, ...(ignoresFilters && { ignoresFilters }), config };
  const known = pickProperties(TileBody.properties, given, { id, name: '', ...content });
  return { ...known, ...content };
}

/**
 * The dashboard that replaces `before`: what the body cannot express because its client uses the other form is kept, and
 * so are the members of ClickStack that it does not mention.
 */
export function keepUnmentioned(body: DashboardBody, after: Dashboard, before: Dashboard): Dashboard {
  const stored = new Map(before.tiles.map((tile) => [tile.id, tile]));
  const unmentioned = Object.keys(KeptMembers.properties).filter(
    (member) => !Object.hasOwn(body, member) && Object.hasOwn(before, member),
  );
  const kept = Object.fromEntries(unmentioned.map((member) => [member, before[member as keyof Dashboard]]));
  return {
    ...normalizeMembers(
      after.id,
      { ...after, ...kept, ...(body.filters && { filters: keepFilterMembers(after.filters, before.filters) }) },
      deriveIds(after.id),
    ),
    tiles: after.tiles.map((tile, index) => {
      const old = stored.get(tile.id);
      const given = body.tiles?.[index];
      if (!old || !given) return tile;
      const members = {
        ...(given.config ? {} : pickTileMembers(old)),
        ...(given.ignoresFilters === undefined && old.ignoresFilters && { ignoresFilters: true }),
        ...tile,
      };
      return toTile(members, tile.id, keepOtherForm(given, toContent(tile), toContent(old)));
    }),
  };
}

/** Keeps the expression of a list of values, which other clients do not know and leave out. */
function keepFilterMembers(filters: Filter[] = [], before: Filter[] = []): Filter[] {
  const stored = new Map(before.map((filter) => [filter.id, filter]));
  return filters.map((filter) => {
    const old = stored.get(filter.id);
    if (!old) return filter;
    const isList = filter.type === 'STATIC_LIST' && old.type === filter.type;
    const kept = { ...(isList && old.expression !== undefined && { expression: old.expression }), ...filter };
    // The order of the members is not a change.
    return isDeepStrictEqual(kept, old) ? old : kept;
  });
}

type Filter = NonNullable<Dashboard['filters']>[number] & { expression?: unknown };

/** The members that a client of series does not know. */
const pickTileMembers = ({ description, containerId, tabId }: Tile) => ({
  ...(description !== undefined && { description }),
  ...(containerId !== undefined && { containerId }),
  ...(tabId !== undefined && { tabId }),
});

const toContent = ({ asRatio, series, config }: Tile) => ({ asRatio, series, ...(config && { config }) });

export const parseDashboard = ({ json }: { json: string }): Dashboard => JSON.parse(json);

/** The same as for a request body, so that a client can send back a dashboard that it has read. */
const MAX_DASHBOARD_BYTES = 2 * 2 ** 20;

/** `json` is the normalized dashboard. */
export function listSizeViolations(json: string): Violation[] {
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_DASHBOARD_BYTES) return [];
  const rule = `must not make the dashboard larger than ${formatBytes(MAX_DASHBOARD_BYTES)} as JSON`;
  return [{ path: 'tiles', rule, value: bytes }];
}

/** Checks rules across several members. The schema checks each member. */
export function listDashboardViolations(body: DashboardBody): Violation[] {
  return [...(body.tiles ?? []).flatMap(createTileCheck()), ...listContainerViolations(body)];
}

/** The check of one tile after the other; it remembers their ids. */
function createTileCheck() {
  const uniqueIds = new Set<string>();
  return (tile: TileBody, index: number): Violation[] => {
    const path = `tiles[${index}].`;
    const violations = listContentViolations(tile, path);
    const report = (member: string, rule: string, value: unknown) =>
      violations.push({ path: `${path}${member}`, rule, value });
    if (tile.id !== undefined && uniqueIds.has(tile.id))
      report('id', 'The id must be unique in the dashboard', tile.id);
    if (tile.id !== undefined) uniqueIds.add(tile.id);
    if (tile.x + tile.w > GRID_COLUMNS)
      report('w', `The tile must end within ${GRID_COLUMNS} columns`, tile.x + tile.w);
    return violations;
  };
}

/** Every reference to a source that does not exist, with the path in the form that was sent. */
export function listSourceIdViolations({ tiles = [] }: DashboardBody, known: ReadonlySet<string>): Violation[] {
  return tiles.flatMap(({ series = [], config }, index) => {
    const references = [
      ...series.map(({ sourceId }, at) => ({ member: `series[${at}].sourceId`, sourceId })),
      ...(config ? [{ member: 'config.sourceId', sourceId: config.sourceId }] : []),
    ];
    return references.flatMap(({ member, sourceId }) =>
      sourceId === undefined || known.has(sourceId)
        ? []
        : [{ path: `tiles[${index}].${member}`, rule: 'The source does not exist', value: sourceId }],
    );
  });
}

/** By name descending in byte order, then by id. */
export function compareByName(a: Pick<Dashboard, 'id' | 'name'>, b: Pick<Dashboard, 'id' | 'name'>): number {
  return Buffer.compare(Buffer.from(b.name), Buffer.from(a.name)) || (a.id < b.id ? -1 : 1);
}

/** The audit log contains a summary; versions contain the whole dashboard. */
export function summarizeForAudit({ name, tags, tiles }: Dashboard, version: number | undefined) {
  return { name, tags, tiles: tiles.length, ...(version === undefined ? {} : { version }) };
}
