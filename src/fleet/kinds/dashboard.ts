import { completed, dashboardViolations } from '../../dashboards/dashboard.ts';
import type { Dashboard, DashboardBody } from '../../dashboards/schema.ts';
import { deleteDashboard, listDashboards, putDashboard } from '../../dashboards/store.ts';
import type { Kind } from './kind.ts';

export const dashboardKind: Kind<Dashboard> = {
  name: 'dashboard',
  activities: { create: 'dashboard_create', update: () => 'dashboard_update', remove: 'dashboard_delete' },

  async load(tx, organizationId) {
    return new Map((await listDashboards(tx, organizationId)).map((dashboard) => [dashboard.id, dashboard]));
  },

  fieldsOf: ({ name, tags, tiles }) => ({ name, tags, tiles }),
  defaults: () => ({}),
  build: (id, fields) => completed(id, fields as DashboardBody),
  violations: ({ after }) => dashboardViolations(after),

  async save(tx, pairs, { organization, now, actor }) {
    for (const { after } of pairs) await putDashboard(tx, organization.id, after, { at: now, by: actor.details });
  },

  remove: (tx, dashboard, { organization }) => deleteDashboard(tx, organization.id, dashboard.id),
};
