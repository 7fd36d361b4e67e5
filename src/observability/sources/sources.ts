import { AppError, rejectViolations } from '../../kernel/errors.ts';
import { createWeakEtag, rejectStale } from '../../kernel/etag.ts';
import { newHexId } from '../../kernel/ids.ts';
import { type Actor, difference } from '../../management/audit/activity.ts';
import type { Audit } from '../../management/audit/audit.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import type { InTransaction, State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import { isResourceId } from './resource-id.ts';
import type { SourceBody } from './schema.ts';
import { BUILT_IN_SOURCES, type Source } from './source.ts';
import { applyDefaults, isBuiltIn, listSourceViolations, normalizeSource } from './source-rules.ts';
import { deleteSource, findSource, listSources, putSource } from './store.ts';

/** Something that uses a source. */
type FindUser = (tx: Db, organizationId: string, sourceId: string) => Promise<{ id: string; name: string } | undefined>;

interface Options {
  state: State;
  audit: Audit;
  organizations: Organizations;
  findDashboardUsingSource: FindUser;
  findSavedSearchUsingSource: FindUser;
  /** Per organization, without the built-in ones. Sources of a fleet file are not limited. */
  maxSources?: number | undefined;
}

/** Of what is stored: every member is public. */
export const createSourceEtag = (source: Source): string => createWeakEtag(source);

export type Sources = ReturnType<typeof createSources>;

export function createSources({
  state,
  audit,
  organizations,
  findDashboardUsingSource,
  findSavedSearchUsingSource,
  maxSources = Number.POSITIVE_INFINITY,
}: Options) {
  async function find(db: Db, organizationId: string, id: string): Promise<Source | undefined> {
    const builtIn = BUILT_IN_SOURCES.find((source) => source.id === id);
    return builtIn ?? (isResourceId(id) ? findSource(db, organizationId, id) : undefined);
  }

  async function get(db: Db, organizationId: string, id: string): Promise<Source> {
    const source = await find(db, organizationId, id);
    if (!source) throw new AppError('not_found', 'Source not found');
    return source;
  }

  async function getChangeable(tx: Db, organizationId: string, id: string, ifMatch?: string): Promise<Source> {
    if (isBuiltIn(id)) throw new AppError('conflict', `The source ${id} is built in and cannot be changed`);
    const source = await get(tx, organizationId, id);
    rejectStale('source', ifMatch, [createSourceEtag(source)]);
    return source;
  }

  return {
    /** Built-in sources first, then those of the organization by id. */
    list: async (organizationId: string): Promise<Source[]> => [
      ...BUILT_IN_SOURCES,
      ...(await listSources(state.db, organizationId)),
    ],

    /** For queries: with the defaults of the kind. */
    async findForQueries(organizationId: string, id: string): Promise<Source | undefined> {
      const source = await find(state.db, organizationId, id);
      return source && applyDefaults(source);
    },

    get: (organizationId: string, id: string): Promise<Source> => get(state.db, organizationId, id),

    /** Every id that a series may reference. */
    async listIds(db: Db, organizationId: string): Promise<Set<string>> {
      return new Set([...BUILT_IN_SOURCES, ...(await listSources(db, organizationId))].map(({ id }) => id));
    },

    async create(
      actor: Actor,
      organizationId: string,
      body: SourceBody,
      inTransaction?: InTransaction<Source>,
    ): Promise<Source> {
      rejectViolations(listSourceViolations(body));
      const source = normalizeSource(newHexId(), body);
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        if ((await listSources(tx, organizationId)).length >= maxSources)
          throw new AppError(
            'conflict',
            `The organization has reached its limit of ${maxSources} sources; delete one first`,
          );
        await putSource(tx, organizationId, source);
        await audit.record(tx, actor, {
          organizationId,
          type: 'dashboard_source_create',
          resource: { type: 'source', id: source.id },
          after: source,
        });
        await inTransaction?.(tx, source);
      });
      return source;
    },

    /** Replaces the whole source. Without `ifMatch` (the header), the last write wins. */
    async replace(
      actor: Actor,
      organizationId: string,
      id: string,
      body: SourceBody,
      ifMatch?: string,
    ): Promise<Source> {
      rejectViolations(listSourceViolations(body));
      const after = normalizeSource(id, body);
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const before = await getChangeable(tx, organizationId, id, ifMatch);
        const changed = difference(before, after);
        if (Object.keys({ ...changed.before, ...changed.after }).length === 0) return before;
        await putSource(tx, organizationId, after);
        await audit.record(tx, actor, {
          organizationId,
          type: 'dashboard_source_update',
          resource: { type: 'source', id },
          ...changed,
        });
        return after;
      });
    },

    async remove(actor: Actor, organizationId: string, id: string, ifMatch?: string): Promise<void> {
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const before = await getChangeable(tx, organizationId, id, ifMatch);
        const dashboard = await findDashboardUsingSource(tx, organizationId, id);
        if (dashboard)
          throw new AppError(
            'conflict',
            `The dashboard ${dashboard.name} (${dashboard.id}) uses this source; change it first`,
          );
        const search = await findSavedSearchUsingSource(tx, organizationId, id);
        if (search)
          throw new AppError(
            'conflict',
            `The saved search ${search.name} (${search.id}) uses this source; change it first`,
          );
        await deleteSource(tx, organizationId, id);
        await audit.record(tx, actor, {
          organizationId,
          type: 'dashboard_source_delete',
          resource: { type: 'source', id },
          before,
        });
      });
    },
  };
}
