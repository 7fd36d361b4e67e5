import type { Actor } from '../audit/activity.ts';
import { AppError, rejectViolations, type Violation } from '../kernel/errors.ts';
import { createEtag, matchesEtag } from '../kernel/etag.ts';
import { newHexId } from '../kernel/ids.ts';
import type { Organizations } from '../organizations/organizations.ts';
import { isResourceId } from '../sources/id.ts';
import type { Sources } from '../sources/sources.ts';
import type { State } from '../state/state.ts';
import type { Db } from '../state/tables.ts';
import { completed, dashboardViolations, inListOrder, sourceIdViolations } from './dashboard.ts';
import type { Saving } from './saving.ts';
import type { Dashboard, DashboardBody } from './schema.ts';
import { findStored, listStored, refuseProvisioned, type StoredDashboard } from './store.ts';
import { violationsInDashboard } from './validation.ts';

interface Options {
  state: State;
  organizations: Organizations;
  sources: Sources;
  saving: Saving;
}

export type Dashboards = ReturnType<typeof createDashboards>;

export function createDashboards({ state, organizations, sources, saving }: Options) {
  async function get(db: Db, organizationId: string, id: string): Promise<StoredDashboard> {
    const stored = isResourceId(id) ? await findStored(db, organizationId, id) : undefined;
    if (!stored) throw new AppError('not_found', 'Dashboard not found');
    return stored;
  }

  /** In the transaction of the change, so that nobody comes in between. */
  async function getChangeable(tx: Db, organizationId: string, id: string, ifMatch: string | undefined) {
    await organizations.lock(tx, organizationId);
    const stored = await get(tx, organizationId, id);
    refuseProvisioned(stored);
    refuseStale(stored, ifMatch);
    return stored;
  }

  async function refuseUnknownSources(tx: Db, organizationId: string, body: DashboardBody): Promise<void> {
    const violations = sourceIdViolations(body, await sources.ids(tx, organizationId));
    if (violations.length === 0) return;
    const ids = [...new Set(violations.map(({ value }) => value))];
    throw new AppError('bad_request', `Could not find the following source IDs: ${ids.join(', ')}`, {
      violations,
      isSummary: true,
    });
  }

  return {
    get: (organizationId: string, id: string): Promise<StoredDashboard> => get(state.db, organizationId, id),

    /** In the order of the interface. */
    async list(organizationId: string): Promise<(StoredDashboard & { dashboard: Dashboard })[]> {
      const all = (await listStored(state.db, organizationId)).map((stored) => ({
        ...stored,
        dashboard: JSON.parse(stored.json) as Dashboard,
      }));
      return all.sort((a, b) => inListOrder(a.dashboard, b.dashboard));
    },

    async create(actor: Actor, organizationId: string, body: DashboardBody): Promise<StoredDashboard> {
      rejectViolations(dashboardViolations(body));
      const dashboard = completed(newHexId(), body, newHexId);
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        await refuseUnknownSources(tx, organizationId, body);
        return saving.save(tx, actor, organizationId, undefined, dashboard);
      });
    },

    /** Whole: what the body leaves out is gone. `ifMatch` is the header; without it the last write wins. */
    async replace(
      actor: Actor,
      organizationId: string,
      id: string,
      body: DashboardBody,
      ifMatch?: string,
    ): Promise<StoredDashboard> {
      rejectViolations(dashboardViolations(body));
      const dashboard = completed(id, body, newHexId);
      return state.write(async (tx) => {
        const before = await getChangeable(tx, organizationId, id, ifMatch);
        await refuseUnknownSources(tx, organizationId, body);
        return saving.save(tx, actor, organizationId, before, dashboard);
      });
    },

    /** Its versions stay, so that it can be restored. */
    async remove(actor: Actor, organizationId: string, id: string, ifMatch?: string): Promise<void> {
      await state.write(async (tx) => {
        const before = await getChangeable(tx, organizationId, id, ifMatch);
        await saving.remove(tx, actor, organizationId, before);
      });
    },

    /** What `create` would complain about, and what it would store; nothing is stored. */
    async validate(
      organizationId: string,
      value: unknown,
    ): Promise<{ violations: Violation[]; normalized: object | null }> {
      const violations = violationsInDashboard(value);
      if (violations.length > 0) return { violations, normalized: null };
      const body = value as DashboardBody;
      const unknown = sourceIdViolations(body, await sources.ids(state.db, organizationId));
      return { violations: unknown, normalized: unknown.length > 0 ? null : normalized(body) };
    },
  };
}

/** Without the ids that are yet to be made. */
function normalized(body: DashboardBody): object {
  const { id: _, tiles, ...dashboard } = completed('', body);
  return {
    ...dashboard,
    tiles: tiles.map(({ id, ...tile }, index) => (body.tiles?.[index]?.id === undefined ? tile : { id, ...tile })),
  };
}

/** The client knows another state than the one that is stored, or there is none. */
export function refuseStale(stored: StoredDashboard | undefined, ifMatch: string | undefined): void {
  if (ifMatch === undefined || (stored && matchesEtag(ifMatch, createEtag(stored.json)))) return;
  throw new AppError(
    'precondition_failed',
    'The dashboard has changed since it was read (If-Match); read it again, and repeat the change',
  );
}
