import {
  listDashboardViolations,
  listSizeViolations,
  normalizeDashboard,
  summarizeForAudit,
} from '../../../observability/dashboards/dashboard.ts';
import type { Dashboard, DashboardBody } from '../../../observability/dashboards/schema.ts';
import { deleteDashboard, listStored, putDashboard } from '../../../observability/dashboards/store.ts';
import type { Kind } from './kind.ts';

/** A dashboard and its stored version; undefined for a new dashboard. */
export interface VersionedDashboard {
  dashboard: Dashboard;
  version: number | undefined;
}

export const dashboardKind: Kind<VersionedDashboard> = {
  name: 'dashboard',
  activities: { create: 'dashboard_create', update: () => 'dashboard_update', remove: 'dashboard_delete' },

  async load(tx, organizationId) {
    const versioned = (await listStored(tx, organizationId)).map(({ json, version }) => {
      const stored: Dashboard = JSON.parse(json);
      return { dashboard: normalizeDashboard(stored.id, stored), version };
    });
    return new Map(versioned.map((entry) => [entry.dashboard.id, entry]));
  },

  toFields: ({ dashboard: { id: _, ...fields } }) => fields,
  toAuditFields: ({ dashboard, version }) => summarizeForAudit(dashboard, version),
  defaults: () => ({}),
  build: (id, fields, _context, before) => ({
    dashboard: normalizeDashboard(id, fields as DashboardBody),
    version: before?.version === undefined ? undefined : before.version + 1,
  }),
  violations: ({ after: { dashboard } }) => [
    ...listDashboardViolations(dashboard),
    ...listSizeViolations(JSON.stringify(dashboard)),
  ],

  async save(tx, pairs, { organization, now, actor, alertRemoval }) {
    for (const { before, after } of pairs) {
      const json = JSON.stringify(after.dashboard);
      await putDashboard(tx, organization.id, after.dashboard, { json, at: now, by: actor.details });
      const keptIds = new Set(after.dashboard.tiles.map(({ id }) => id));
      if (before) await alertRemoval.removeOfTiles(tx, actor, organization.id, before.dashboard, keptIds);
    }
  },

  async remove(tx, { dashboard }, { organization, now, actor, alertRemoval }) {
    await deleteDashboard(tx, organization.id, dashboard.id, now);
    await alertRemoval.removeOfTiles(tx, actor, organization.id, dashboard, new Set());
  },
};
