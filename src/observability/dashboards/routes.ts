import type { FastifyReply, FastifyRequest } from 'fastify';
import { DASHBOARD_READERS, DASHBOARD_WRITERS } from '../../kernel/access/roles.ts';
import { createEtag } from '../../kernel/etag.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { formatErrors } from '../../platform/http/interfaces.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import { IfMatch } from '../../platform/http/requests/if-match.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { dashboardResponse, emptyDashboardResponse, sendRendered } from '../../platform/http/responses/envelopes.ts';
import { ResourcePath } from '../sources/resource-id.ts';
import { renderConfigForm, renderFormat, toFormatEtag } from './config-form.ts';
import type { Dashboards } from './dashboards.ts';
import { DashboardBody, EitherDashboard, type Format, FormatQuery, Validation } from './schema.ts';
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
          querystring: FormatQuery,
          body: DashboardBody,
          response: dashboardResponse(EitherDashboard),
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const { format = 'series' } = request.query;
        const inTransaction = keepResponse(request, (stored: StoredDashboard) => renderStored(stored, format));
        const stored = await dashboards.create(getActor(request), organizationId, request.body, inTransaction);
        return sendStored(reply, stored, format);
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
          querystring: FormatQuery,
          body: DashboardBody,
          response: dashboardResponse(EitherDashboard),
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const { params, body, query } = request;
        const stored = await dashboards.replace(
          getActor(request),
          organizationId,
          params.id,
          body,
          readIfMatch(request),
        );
        return sendStored(reply, stored, query.format);
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
          querystring: FormatQuery,
          response: { 200: Validation },
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const validation = await dashboards.validate(organizationId, request.body ?? {});
        return sendRendered(reply, renderValidation(validation, request.query.format));
      },
    );
  };
}

/** Node joins several If-Match headers into one list. */
export const readIfMatch = (request: FastifyRequest): string | undefined => request.headers['if-match'];

/** The response of `POST …/validate`. */
export function renderValidation(
  { violations, normalized }: Awaited<ReturnType<Dashboards['validate']>>,
  format: Format = 'series',
): string {
  const result = JSON.stringify({ valid: violations.length === 0, errors: formatErrors(violations) });
  const render = format === 'series' ? JSON.stringify : renderConfigForm;
  return `${result.slice(0, -1)},"normalized":${normalized ? render(normalized) : 'null'}}`;
}

/** The response of `sendStored`, for a replay. */
export const renderStored = ({ json }: StoredDashboard, format: Format = 'series') => ({
  result: renderFormat(json, format),
  headers: { etag: toFormatEtag(createEtag(json), format) },
});

/** Sends the same bytes and etag as a read. */
export function sendStored(reply: object, stored: StoredDashboard, format: Format = 'series'): FastifyReply {
  const { result, headers } = renderStored(stored, format);
  return sendRendered((reply as FastifyReply).headers(headers), `{"data":${result}}`);
}
