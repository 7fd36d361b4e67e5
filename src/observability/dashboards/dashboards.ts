import { AppError, rejectViolations, type Violation } from '../../kernel/errors.ts';
import { createEtag, rejectStale } from '../../kernel/etag.ts';
import { newHexId } from '../../kernel/ids.ts';
import { yieldToEventLoop } from '../../kernel/tasks/event-loop.ts';
import type { Actor } from '../../management/audit/activity.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import type { InTransaction, State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import { isResourceId } from '../sources/resource-id.ts';
import type { Sources } from '../sources/sources.ts';
import { toFormatEtag } from './config-form.ts';
import {
  compareByName,
  keepUnmentioned,
  listDashboardViolations,
  listSizeViolations,
  listSourceIdViolations,
  normalizeDashboard,
  parseDashboard,
} from './dashboard.ts';
import type { DashboardQuota } from './dashboard-quota.ts';
import type { DashboardWriter } from './dashboard-writer.ts';
import { type Dashboard, type DashboardBody, FORMATS, type UnstoredDashboard } from './schema.ts';
import { findStored, listStored, rejectProvisioned, type StoredDashboard } from './store.ts';
import { MAX_LISTED_VIOLATIONS, validateDashboard } from './validation.ts';

interface Options {
  state: State;
  organizations: Organizations;
  sources: Sources;
  writer: DashboardWriter;
  quota: DashboardQuota;
}

export type Dashboards = ReturnType<typeof createDashboards>;

export function createDashboards({ state, organizations, sources, writer, quota }: Options) {
  async function get(db: Db, organizationId: string, id: string): Promise<StoredDashboard> {
    const stored = isResourceId(id) ? await findStored(db, organizationId, id) : undefined;
    if (!stored) throw new AppError('not_found', 'Dashboard not found');
    return stored;
  }

  /** Reads in the transaction of the change, so that no other change can happen in between. */
  async function getChangeable(tx: Db, organizationId: string, id: string, ifMatch: string | undefined) {
    await organizations.lock(tx, organizationId);
    const stored = await get(tx, organizationId, id);
    rejectProvisioned(stored);
    rejectStaleDashboard(stored, ifMatch);
    return stored;
  }

  async function rejectUnknownSources(tx: Db, organizationId: string, body: DashboardBody): Promise<void> {
    const all = listSourceIdViolations(body, await sources.listIds(tx, organizationId));
    const violations = all.slice(0, MAX_LISTED_VIOLATIONS);
    if (violations.length === 0) return;
    const ids = [...new Set(violations.map(({ value }) => value))];
    throw new AppError('bad_request', `Could not find the following source IDs: ${ids.join(', ')}`, {
      violations,
      isSummary: true,
    });
  }

  return {
    get: (organizationId: string, id: string): Promise<StoredDashboard> => get(state.db, organizationId, id),

    /** By name descending, then by id. The documents are not parsed: together they may have megabytes. */
    async list(organizationId: string): Promise<(StoredDashboard & Pick<Dashboard, 'id' | 'name'>)[]> {
      return (await listStored(state.db, organizationId)).sort(compareByName);
    },

    async create(
      actor: Actor,
      organizationId: string,
      body: DashboardBody,
      inTransaction?: InTransaction<StoredDashboard>,
    ): Promise<StoredDashboard> {
      rejectViolations(listDashboardViolations(body).slice(0, MAX_LISTED_VIOLATIONS));
      await yieldToEventLoop();
      const dashboard = normalizeDashboard(newHexId(), body, newHexId);
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        await rejectUnknownSources(tx, organizationId, body);
        const stored = await writer.save(tx, actor, organizationId, undefined, dashboard);
        await quota.check(tx, organizationId, { isNew: true });
        await inTransaction?.(tx, stored);
        return stored;
      });
    },

    /** Replaces the whole dashboard. Without `ifMatch` (the header), the last write wins. */
    async replace(
      actor: Actor,
      organizationId: string,
      id: string,
      body: DashboardBody,
      ifMatch?: string,
    ): Promise<StoredDashboard> {
      rejectViolations(listDashboardViolations(body).slice(0, MAX_LISTED_VIOLATIONS));
      await yieldToEventLoop();
      const dashboard = normalizeDashboard(id, body, newHexId);
      return state.write(async (tx) => {
        const before = await getChangeable(tx, organizationId, id, ifMatch);
        await rejectUnknownSources(tx, organizationId, body);
        const kept = keepUnmentioned(body, dashboard, parseDashboard(before));
        const stored = await writer.save(tx, actor, organizationId, before, kept);
        await quota.check(tx, organizationId, { isNew: false });
        return stored;
      });
    },

    /** Keeps the versions, so that the dashboard can be restored. */
    async remove(actor: Actor, organizationId: string, id: string, ifMatch?: string): Promise<void> {
      await state.write(async (tx) => {
        const before = await getChangeable(tx, organizationId, id, ifMatch);
        await writer.remove(tx, actor, organizationId, before);
      });
    },

    /** Returns the violations that `create` would report, or the dashboard that it would store. Stores nothing. */
    async validate(
      organizationId: string,
      value: unknown,
    ): Promise<{ violations: Violation[]; normalized: UnstoredDashboard | null }> {
      const violations = validateDashboard(value);
      if (violations.length > 0) return { violations, normalized: null };
      const body = value as DashboardBody;
      const unknown = listSourceIdViolations(body, await sources.listIds(state.db, organizationId));
      if (unknown.length > 0) return { violations: unknown, normalized: null };
      await yieldToEventLoop();
      const dashboard = { ...normalizeDashboard('', body), id: newHexId() };
      const tooLarge = listSizeViolations(JSON.stringify(dashboard));
      return tooLarge.length > 0
        ? { violations: tooLarge, normalized: null }
        : { violations: [], normalized: withoutNewIds(dashboard, body) };
    },
  };
}

/** Without the ids that `create` would generate. */
function withoutNewIds({ id: _, tiles, ...dashboard }: Dashboard, body: DashboardBody): UnstoredDashboard {
  return {
    ...dashboard,
    tiles: tiles.map(({ id, ...tile }, index) => (body.tiles?.[index]?.id === undefined ? tile : { id, ...tile })),
  };
}

/** Throws if the stored dashboard is not the one that the client read, in any format. */
export function rejectStaleDashboard(stored: StoredDashboard | undefined, ifMatch: string | undefined): void {
  const etag = stored && createEtag(stored.json);
  rejectStale('dashboard', ifMatch, etag === undefined ? [] : FORMATS.map((format) => toFormatEtag(etag, format)));
}
