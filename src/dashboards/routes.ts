import type { FastifyReply, FastifyRequest } from 'fastify';
import { getActor } from '../audit/request-actor.ts';
import { dashboardResponse, emptyDashboardResponse, sendRendered } from '../http/envelopes.ts';
import { getIdentity } from '../http/guard.ts';
import { formatErrors } from '../http/interfaces.ts';
import type { Routes } from '../http/validation.ts';
import { createEtag } from '../kernel/etag.ts';
import { DASHBOARD_READERS, DASHBOARD_WRITERS } from '../kernel/roles.ts';
import { ResourcePath } from '../sources/id.ts';
import type { Dashboards } from './dashboards.ts';
import { Dashboard, DashboardBody, IfMatch, Validation } from './schema.ts';
import type { StoredDashboard } from './store.ts';

const tags = ['Dashboards'];

/** Everything that changes dashboards; reading them is in `read-routes.ts`. */
export function dashboardRoutes({ dashboards }: { dashboards: Dashboards }): Routes {
  return (app) => {
    app.post(
      '/api/v2/dashboards',
      {
        config: { operation: 'createDashboard', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Create dashboard',
          description: 'The ids of the dashboard, and of tiles that have none, are made here.',
          body: DashboardBody,
          response: dashboardResponse(Dashboard),
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        return sendStored(reply, await dashboards.create(getActor(request), organizationId, request.body));
      },
    );

    app.put(
      '/api/v2/dashboards/:id',
      {
        config: { operation: 'updateDashboard', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Update dashboard',
          description:
            'Replaces it whole; what was stored stays as a version. With If-Match only while it is the one that was read, else 412.',
          params: ResourcePath,
          headers: IfMatch,
          body: DashboardBody,
          response: dashboardResponse(Dashboard),
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const { id } = request.params;
        return sendStored(
          reply,
          await dashboards.replace(getActor(request), organizationId, id, request.body, ifMatchOf(request)),
        );
      },
    );

    app.delete(
      '/api/v2/dashboards/:id',
      {
        config: { operation: 'deleteDashboard', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Delete dashboard',
          description: 'Its versions stay: it can be restored.',
          params: ResourcePath,
          headers: IfMatch,
          response: emptyDashboardResponse,
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        await dashboards.remove(getActor(request), organizationId, request.params.id, ifMatchOf(request));
        return {};
      },
    );

    app.post(
      '/api/v2/dashboards/validate',
      {
        config: { operation: 'validateDashboard', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'Validate dashboard',
          description:
            'Says what is wrong with a body, or how it would be stored. Stores nothing, and always answers 200.',
          response: { 200: Validation },
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const { violations, normalized } = await dashboards.validate(organizationId, request.body ?? {});
        return { valid: violations.length === 0, errors: formatErrors(violations), normalized: normalized as never };
      },
    );
  };
}

/** Several If-Match headers mean the same as one that lists them all. */
export const ifMatchOf = (request: FastifyRequest): string | undefined => request.headers['if-match'];

/** The very bytes that a read would answer, and their tag. */
export function sendStored(reply: object, { json }: StoredDashboard): FastifyReply {
  return sendRendered((reply as FastifyReply).header('etag', createEtag(json)), `{"data":${json}}`);
}
