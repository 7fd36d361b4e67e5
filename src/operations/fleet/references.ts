import { memoizeByObject } from '../../kernel/memo.ts';
import type { Channel } from '../../management/notifications/channel.ts';
import type { Dashboard } from '../../observability/dashboards/schema.ts';
import type { SavedSearch } from '../../observability/search/saved/saved-search.ts';

/** What alerts refer to by name: the resources of an organization after the change. */
export interface Targets {
  channels: ReadonlyMap<string, Channel>;
  savedSearches: ReadonlyMap<string, SavedSearch>;
  dashboards: ReadonlyMap<string, { dashboard: Dashboard }>;
}

export const NO_TARGETS: Targets = { channels: new Map(), savedSearches: new Map(), dashboards: new Map() };

export interface Resolver<T> {
  /** The id of a resource, by its id or its name. What cannot be resolved is returned as it is. */
  resolve(resources: ReadonlyMap<string, T>, reference: string): string;
  /** The name if it is enough to find the resource, and the id otherwise. */
  format(resources: ReadonlyMap<string, T>, id: string): string;
  /** Why a reference cannot be resolved. */
  explain(resources: ReadonlyMap<string, T>, reference: string): string;
}

function createResolver<T>(noun: string, plural: string, getName: (resource: T) => string): Resolver<T> {
  const indexByName = memoizeByObject((resources: ReadonlyMap<string, T>) => {
    const ids = new Map<string, string[]>();
    for (const [id, resource] of resources) {
      const name = getName(resource);
      ids.set(name, [...(ids.get(name) ?? []), id]);
    }
    return ids;
  });
  const resolve: Resolver<T>['resolve'] = (resources, reference) => {
    if (resources.has(reference)) return reference;
    const [id, ...others] = indexByName(resources).get(reference) ?? [];
    return id !== undefined && others.length === 0 ? id : reference;
  };
  return {
    resolve,
    format(resources, id) {
      const resource = resources.get(id);
      const name = resource === undefined ? id : getName(resource);
      return resolve(resources, name) === id ? name : id;
    },
    explain: (resources, reference) =>
      indexByName(resources).has(reference)
        ? `Several ${plural} have this name; use the id of one`
        : `There is no ${noun} with this name or id`,
  };
}

export const CHANNELS = createResolver<Channel>('channel', 'channels', ({ content }) => content.name);
export const SAVED_SEARCHES = createResolver<SavedSearch>(
  'saved search',
  'saved searches',
  ({ content }) => content.name,
);
export const DASHBOARDS = createResolver<{ dashboard: Dashboard }>(
  'dashboard',
  'dashboards',
  ({ dashboard }) => dashboard.name,
);
export const TILES = createResolver<{ name: string }>('tile', 'tiles of the dashboard', ({ name }) => name);

const indexTiles = memoizeByObject(({ tiles }: Dashboard) => new Map(tiles.map((tile) => [tile.id, tile])));

/** The tiles of a dashboard, by id. */
export const listTiles = ({ dashboards }: Targets, dashboardId: string) => {
  const found = dashboards.get(dashboardId);
  return found ? indexTiles(found.dashboard) : new Map<string, Dashboard['tiles'][number]>();
};
