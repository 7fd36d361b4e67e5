import type { FastifyReply, FastifyRequest } from 'fastify';
import { actorOf } from '../audit/request-actor.ts';
import { dashboardAnswer, emptyDashboardAnswer, sendRendered } from '../http/envelopes.ts';
import { callerOf } from '../http/guard.ts';
import { listedErrors } from '../http/interfaces.ts';
import type { Routes } from '../http/validation.ts';
import { etagOf } from '../kernel/etag.ts';
import { ResourcePath } from '../sources/resource-id.ts';
import { READ, WRITE } from '../tokens/token.ts';
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
        config: { operation: 'createDashboard', roles: WRITE },
        schema: {
          tags,
          summary: 'Create dashboard',
          description: 'The ids of the dashboard, and of tiles that have none, are made here.',
          body: DashboardBody,
          response: dashboardAnswer(Dashboard),
        },
      },
      async (request, reply) => {
        const { organizationId } = callerOf(request);
        return sendStored(reply, await dashboards.create(actorOf(request), organizationId, request.body));
      },
    );

    app.put(
      '/api/v2/dashboards/:id',
      {
        config: { operation: 'updateDashboard', roles: WRITE },
        schema: {
          tags,
          summary: 'Update dashboard',
          description:
            'Replaces it whole; what was stored stays as a version. With If-Match only while it is the one that was read, else 412.',
          params: ResourcePath,
          headers: IfMatch,
          body: DashboardBody,
          response: dashboardAnswer(Dashboard),
        },
      },
      async (request, reply) => {
        const { organizationId } = callerOf(request);
        const { id } = request.params;
        return sendStored(
          reply,
          await dashboards.replace(actorOf(request), organizationId, id, request.body, readIfMatch(request)),
        );
      },
    );

    app.delete(
      '/api/v2/dashboards/:id',
      {
        config: { operation: 'deleteDashboard', roles: WRITE },
        schema: {
          tags,
          summary: 'Delete dashboard',
          description: 'Its versions stay: it can be restored.',
          params: ResourcePath,
          headers: IfMatch,
          response: emptyDashboardAnswer,
        },
      },
      async (request) => {
        const { organizationId } = callerOf(request);
        await dashboards.remove(actorOf(request), organizationId, request.params.id, readIfMatch(request));
        return {};
      },
    );

    app.post(
      '/api/v2/dashboards/validate',
      {
        config: { operation: 'validateDashboard', roles: READ },
        schema: {
          tags,
          summary: 'Validate dashboard',
          description:
            'Says what is wrong with a body, or how it would be stored. Stores nothing, and always answers 200.',
          response: { 200: Validation },
        },
      },
      async (request) => {
        const { organizationId } = callerOf(request);
        const { violations, normalizeBody: normalized } = await dashboards.validate(organizationId, request.body ?? {});
        return { valid: violations.length === 0, errors: listedErrors(violations), normalized: normalized as never };
      },
    );
  };
}

/** Several If-Match headers mean the same as one that lists them all. */
export const readIfMatch = (request: FastifyRequest): string | undefined => request.headers['if-match'];

/** The very bytes that a read would answer, and their tag. */
export function sendStored(reply: object, { json }: StoredDashboard): FastifyReply {
  return sendRendered((reply as FastifyReply).header('etag', etagOf(json)), `{"data":${json}}`);
}
