import Type from 'typebox';
import { DASHBOARD_READERS } from '../../kernel/access/roles.ts';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { dashboardResponse } from '../../platform/http/responses/envelopes.ts';
import { DashboardBody } from './schema.ts';
import { DASHBOARD_TEMPLATES } from './templates/templates.ts';

const TemplateRecord = NamedObject('DashboardTemplate', {
  id: Type.String(),
  description: Type.String(),
  dashboard: DashboardBody,
});

/** Dashboards to start from: a client creates one by posting `dashboard`. */
export const templateRoutes: Routes = (app) => {
  app.get(
    '/api/v2/dashboard-templates',
    {
      config: { operation: 'listDashboardTemplates', roles: DASHBOARD_READERS },
      schema: {
        tags: ['Dashboards'],
        summary: 'List dashboard templates',
        description:
          'Dashboards for HTTP services, databases, hosts and ClickHouse services. Post the dashboard of one to create it.',
        response: dashboardResponse(Type.Array(TemplateRecord)),
      },
    },
    async () => ({ data: DASHBOARD_TEMPLATES as (typeof DASHBOARD_TEMPLATES)[number][] }),
  );
};
