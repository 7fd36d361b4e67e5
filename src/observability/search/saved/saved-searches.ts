import { AppError, rejectViolations } from '../../../kernel/errors.ts';
import { rejectStale } from '../../../kernel/etag.ts';
import { newHexId } from '../../../kernel/ids.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { type Actor, difference } from '../../../management/audit/activity.ts';
import type { Audit } from '../../../management/audit/audit.ts';
import type { Organizations } from '../../../management/organizations/organizations.ts';
import type { InTransaction, State } from '../../../platform/state/state.ts';
import type { Db } from '../../../platform/state/tables.ts';
import { isResourceId } from '../../sources/resource-id.ts';
import type { Sources } from '../../sources/sources.ts';
import {
  createSavedSearchEtag,
  listFilterViolations,
  listNameViolations,
  normalizeSavedSearch,
  type SavedSearch,
  type SavedSearchContent,
} from './saved-search.ts';
import type { SavedSearchBody, SavedSearchFilter } from './saved-search-schema.ts';
import {
  countSavedSearches,
  deleteSavedSearch,
  findSavedSearch,
  listSavedSearches,
  putSavedSearch,
} from './saved-search-store.ts';

/** Per organization. */
const MAX_SAVED_SEARCHES = 1000;

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  sources: Pick<Sources, 'listIds'>;
  /** Deletes the alerts of a saved search that is deleted. */
  removeAlerts(tx: Db, actor: Actor, organizationId: string, search: { id: string; name: string }): Promise<void>;
}

export type SavedSearches = ReturnType<typeof createSavedSearches>;

export function createSavedSearches({ state, clock, audit, organizations, sources, removeAlerts }: Options) {
  async function get(db: Db, organizationId: string, id: string): Promise<SavedSearch> {
    const found = isResourceId(id) ? await findSavedSearch(db, organizationId, id) : undefined;
    if (!found) throw new AppError('not_found', 'Saved search not found');
    return found;
  }

  /** Locks the organization. */
  async function getChangeable(tx: Db, organizationId: string, id: string, ifMatch: string | undefined) {
    await organizations.lock(tx, organizationId);
    const stored = await get(tx, organizationId, id);
    rejectStale('saved search', ifMatch, [createSavedSearchEtag(stored)]);
    return stored;
  }

  async function check(
    tx: Db,
    organizationId: string,
    content: SavedSearchContent,
    known?: readonly SavedSearchFilter[],
  ): Promise<void> {
    rejectViolations([...listNameViolations(content), ...listFilterViolations(content, known)]);
    if ((await sources.listIds(tx, organizationId)).has(content.sourceId)) return;
    throw new AppError('bad_request', 'sourceId must be an existing source id', { field: 'sourceId' });
  }

  return {
    async list(organizationId: string, page: { limit: number; offset: number }) {
      const [list, total] = await Promise.all([
        listSavedSearches(state.db, organizationId, page),
        countSavedSearches(state.db, organizationId),
      ]);
      return { list, total };
    },

    get: (organizationId: string, id: string): Promise<SavedSearch> => get(state.db, organizationId, id),

    async create(
      actor: Actor,
      organizationId: string,
      body: SavedSearchBody,
      inTransaction?: InTransaction<SavedSearch>,
    ): Promise<SavedSearch> {
      const content = normalizeSavedSearch(body);
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        await check(tx, organizationId, content);
        if ((await countSavedSearches(tx, organizationId)) >= MAX_SAVED_SEARCHES)
          throw new AppError(
            'conflict',
            `The organization has reached its limit of ${MAX_SAVED_SEARCHES} saved searches; delete one first`,
          );
        const now = clock.now();
        const search = { id: newHexId(), organizationId, content, createdAt: now, updatedAt: now };
        await putSavedSearch(tx, search);
        await audit.record(tx, actor, {
          organizationId,
          type: 'saved_search_create',
          resource: { type: 'saved_search', id: search.id },
          after: content,
        });
        await inTransaction?.(tx, search);
        return search;
      });
    },

    /** Replaces everything. Without `ifMatch` (the header), the last write wins. */
    async replace(
      actor: Actor,
      organizationId: string,
      id: string,
      body: SavedSearchBody,
      ifMatch?: string,
    ): Promise<SavedSearch> {
      const content = normalizeSavedSearch(body);
      return state.write(async (tx) => {
        const before = await getChangeable(tx, organizationId, id, ifMatch);
        await check(tx, organizationId, content, before.content.filters);
        const changed = difference(before.content, content);
        if (Object.keys({ ...changed.before, ...changed.after }).length === 0) return before;
        const search = { ...before, content, updatedAt: clock.now() };
        await putSavedSearch(tx, search);
        await audit.record(tx, actor, {
          organizationId,
          type: 'saved_search_update',
          resource: { type: 'saved_search', id },
          ...changed,
        });
        return search;
      });
    },

    async remove(actor: Actor, organizationId: string, id: string, ifMatch?: string): Promise<void> {
      await state.write(async (tx) => {
        const { content } = await getChangeable(tx, organizationId, id, ifMatch);
        await removeAlerts(tx, actor, organizationId, { id, name: content.name });
        await deleteSavedSearch(tx, organizationId, id);
        await audit.record(tx, actor, {
          organizationId,
          type: 'saved_search_delete',
          resource: { type: 'saved_search', id },
          before: content,
        });
      });
    },
  };
}
