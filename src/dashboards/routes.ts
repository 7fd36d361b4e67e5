import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { getActor } from '../audit/request-actor.ts';
import { dashboardResponse, emptyDashboardResponse, sendRendered } from '../http/envelopes.ts';
import { getIdentity } from '../http/guard.ts';
import { keepResponse } from '../http/idempotency.ts';
import { formatErrors } from '../http/interfaces.ts';
import type { Routes } from '../http/validation.ts';
import { createEtag } from '../kernel/etag.ts';
import { isShortJson } from '../kernel/json-slices.ts';
import { DASHBOARD_READERS, DASHBOARD_WRITERS } from '../kernel/roles.ts';
import { ResourcePath } from '../sources/resource-id.ts';
import { renderDashboard } from './dashboard.ts';
import type { Dashboards } from './dashboards.ts';
import { Dashboard, DashboardBody, IfMatch, Validation } from './schema.ts';
import type { StoredDashboard } from './store.ts';

const tags = ['Dashboards'];

/** Routes that change dashboards. `read-routes.ts` has the reads. */
export function dashboardRoutes({ dashboards }: { dashboards: Dashboards }): Routes {
  return (app) => {
    app.post(
      '/api/v2/dashboards',
      {
        config: { operation: 'createDashboard', roles: DASHBOARD_WRITERS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create dashboard',
          description: 'The server generates the id of the dashboard, and ids of tiles without one.',
          body: DashboardBody,
          response: dashboardResponse(Dashboard),
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const inTransaction = keepResponse(request, renderStored);
        return sendStored(
          reply,
          await dashboards.create(getActor(request), organizationId, request.body, inTransaction),
        );
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
            'Replaces the whole dashboard and saves a new version. With If-Match, fails with 412 if the dashboard has changed.',
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
          await dashboards.replace(getActor(request), organizationId, id, request.body, readIfMatch(request)),
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
          description: 'The versions are kept, so the dashboard can be restored.',
          params: ResourcePath,
          headers: IfMatch,
          response: emptyDashboardResponse,
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        await dashboards.remove(getActor(request), organizationId, request.params.id, readIfMatch(request));
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
            'Returns the errors of a body, or the dashboard as it would be stored. Stores nothing and always returns 200.',
          response: { 200: Validation },
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const { violations, normalized } = await dashboards.validate(organizationId, request.body ?? {});
        const result = JSON.stringify({ valid: violations.length === 0, errors: formatErrors(violations) });
        const json = normalized ? await renderDashboard(normalized) : 'null';
        return sendRendered(reply, Buffer.from(`${result.slice(0, -1)},"normalized":${json}}`));
      },
    );
  };
}

/** Node joins several If-Match headers into one list. */
export const readIfMatch = (request: FastifyRequest): string | undefined => request.headers['if-match'];

/** The response of `sendStored`, for a replay. */
export const renderStored = ({ json }: StoredDashboard) => ({ result: json, headers: { etag: createEtag(json) } });

/** Sends the same bytes and etag as a read. Other requests run between the steps for a large dashboard. */
export async function sendStored(reply: object, { json }: StoredDashboard): Promise<FastifyReply> {
  if (!isShortJson(json)) await yieldToEventLoop();
  (reply as FastifyReply).header('etag', createEtag(json));
  if (isShortJson(json)) return sendRendered(reply, `{"data":${json}}`);
  await yieldToEventLoop();
  const bytes = Buffer.from(`{"data":${json}}`);
  await yieldToEventLoop();
  return sendRendered(reply, bytes);
}
