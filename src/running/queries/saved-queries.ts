import { AppError } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import type { Page, PageRequest } from '../../kernel/page.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { type ActivityType, type Actor, difference } from '../../management/audit/activity.ts';
import type { Audit } from '../../management/audit/audit.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import type { Services } from '../../management/services/services.ts';
import type { InTransaction, State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import {
  countSavedQueries,
  deleteSavedQuery,
  findSavedQuery,
  type ListedQuery,
  listSavedQueries,
  putSavedQuery,
  type QueryOwner,
  type SavedQuery,
  type SavedQueryContent,
} from './saved-query-store.ts';
import { toShownStatement } from './shown-statement.ts';

/** Of one service. */
const MAX_SAVED_QUERIES = 1000;

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  services: Pick<Services, 'get'>;
}

export type SavedQueries = ReturnType<typeof createSavedQueries>;

/** Statements that are kept with a service, for everyone who may read it. */
export function createSavedQueries({ state, clock, audit, organizations, services }: Options) {
  const requireService = ({ organizationId, serviceId }: QueryOwner) => services.get(organizationId, serviceId);

  async function get(db: Db, owner: QueryOwner, id: string): Promise<SavedQuery> {
    const found = await findSavedQuery(db, owner, id);
    if (!found) throw new AppError('not_found', `saved query ${id} does not exist`);
    return found;
  }

  const record = (
    tx: Db,
    actor: Actor,
    { organizationId, serviceId }: QueryOwner,
    type: ActivityType,
    id: string,
    change: { before?: object; after?: object },
  ) => audit.record(tx, actor, { organizationId, type, resource: { type: 'saved_query', id }, serviceId, ...change });

  return {
    async list(owner: QueryOwner, { limit, after }: PageRequest): Promise<Page<ListedQuery> & { total: number }> {
      await requireService(owner);
      const position = after && ([Number(after[0]), String(after[1])] as const);
      const found = await listSavedQueries(state.db, owner, { limit: limit + 1, after: position });
      const items = found.slice(0, limit);
      const last = items.at(-1);
      const next = found.length > limit && last ? [last.createdAt, last.id] : undefined;
      return { items, next, total: await countSavedQueries(state.db, owner) };
    },

    async get(owner: QueryOwner, id: string): Promise<SavedQuery> {
      await requireService(owner);
      return get(state.db, owner, id);
    },

    async create(
      actor: Actor,
      owner: QueryOwner,
      content: SavedQueryContent,
      inTransaction?: InTransaction<SavedQuery>,
    ): Promise<SavedQuery> {
      await requireService(owner);
      return state.write(async (tx) => {
        await organizations.lock(tx, owner.organizationId);
        if ((await countSavedQueries(tx, owner)) >= MAX_SAVED_QUERIES)
          throw new AppError(
            'conflict',
            `The service has reached its limit of ${MAX_SAVED_QUERIES} saved queries; delete one first`,
          );
        const query = { ...content, id: newUuid(), createdAt: clock.now() };
        await putSavedQuery(tx, owner, query);
        await record(tx, actor, owner, 'saved_query_create', query.id, { after: toShown(query) });
        await inTransaction?.(tx, query);
        return query;
      });
    },

    /** Replaces everything. */
    async replace(actor: Actor, owner: QueryOwner, id: string, content: SavedQueryContent): Promise<SavedQuery> {
      await requireService(owner);
      return state.write(async (tx) => {
        await organizations.lock(tx, owner.organizationId);
        const before = await get(tx, owner, id);
        const query = { ...before, ...content };
        if (Object.keys(difference(before, query).after).length === 0) return before;
        await putSavedQuery(tx, owner, query);
        await record(tx, actor, owner, 'saved_query_update', id, difference(toShown(before), toShown(query)));
        return query;
      });
    },

    async remove(actor: Actor, owner: QueryOwner, id: string): Promise<void> {
      await requireService(owner);
      await state.write(async (tx) => {
        await organizations.lock(tx, owner.organizationId);
        const before = await get(tx, owner, id);
        await deleteSavedQuery(tx, owner, id);
        await record(tx, actor, owner, 'saved_query_delete', id, { before: toShown(before) });
      });
    },
  };
}

/** What the audit log may contain: no literals. */
const toShown = ({ name, database, sql }: SavedQueryContent) => ({ name, database, statement: toShownStatement(sql) });
