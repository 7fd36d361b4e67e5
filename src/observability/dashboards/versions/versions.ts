import { AppError } from '../../../kernel/errors.ts';
import type { Actor } from '../../../management/audit/activity.ts';
import type { Organizations } from '../../../management/organizations/organizations.ts';
import type { InTransaction, State } from '../../../platform/state/state.ts';
import type { Db } from '../../../platform/state/tables.ts';
import { isResourceId } from '../../sources/resource-id.ts';
import { normalizeDashboard } from '../dashboard.ts';
import type { DashboardQuota } from '../dashboard-quota.ts';
import type { DashboardWriter } from '../dashboard-writer.ts';
import { rejectStaleDashboard } from '../dashboards.ts';
import type { Dashboard } from '../schema.ts';
import { findStored, rejectProvisioned, type StoredDashboard } from '../store.ts';
import { findVersion, latestVersion, listVersions, type Version } from '../version-store.ts';

export type { Version };

/** With the saved dashboard as JSON. */
type WholeVersion = Version & { json: string };

interface Options {
  state: State;
  organizations: Organizations;
  writer: DashboardWriter;
  quota: DashboardQuota;
}

export type Versions = ReturnType<typeof createVersions>;

const MAX_VERSION = 2 ** 31;

/** The versions of a dashboard remain after it is deleted. */
export function createVersions({ state, organizations, writer, quota }: Options) {
  async function get(db: Db, organizationId: string, id: string, version: number): Promise<WholeVersion> {
    const isPossible = isResourceId(id) && Number.isInteger(version) && version > 0 && version < MAX_VERSION;
    const found = isPossible ? await findVersion(db, organizationId, id, version) : undefined;
    if (found) return found;
    const isKnown = isResourceId(id) && (await latestVersion(db, organizationId, id)) > 0;
    throw new AppError('not_found', isKnown ? 'Version not found' : 'Dashboard not found');
  }

  return {
    /** Newest first. */
    async list(organizationId: string, id: string): Promise<Version[]> {
      const versions = isResourceId(id) ? await listVersions(state.db, organizationId, id) : [];
      if (versions.length === 0) throw new AppError('not_found', 'Dashboard not found');
      return versions;
    },

    get: (organizationId: string, id: string, version: number): Promise<WholeVersion> =>
      get(state.db, organizationId, id, version),

    /** Saves an old version as the newest one. Also restores a deleted dashboard. */
    async restore(
      actor: Actor,
      organizationId: string,
      id: string,
      version: number,
      ifMatch?: string,
      inTransaction?: InTransaction<StoredDashboard>,
    ): Promise<StoredDashboard> {
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const { json } = await get(tx, organizationId, id, version);
        const before = await findStored(tx, organizationId, id);
        rejectProvisioned(before);
        rejectStaleDashboard(before, ifMatch);
        const dashboard = normalizeDashboard(id, JSON.parse(json) as Dashboard);
        const stored = await writer.save(tx, actor, organizationId, before, dashboard);
        await quota.check(tx, organizationId, { isNew: before === undefined });
        await inTransaction?.(tx, stored);
        return stored;
      });
    },
  };
}
