import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { ADMINS, READERS } from '../../kernel/access/roles.ts';
import { createEtag } from '../../kernel/etag.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { ServicePath } from '../../management/services/schema.ts';
import type { Services } from '../../management/services/services.ts';
import { dashboards as dashboardInterface } from '../../platform/http/interfaces.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import { IfMatch } from '../../platform/http/requests/if-match.ts';
import { createOrganizationReader } from '../../platform/http/requests/service-organization.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import {
  emptyManagementResponse,
  emptySuccess,
  managementResponse,
  sendSuccess,
} from '../../platform/http/responses/envelopes.ts';
import { renderAll, renderFormat, toFormatEtag } from './config-form.ts';
import type { Dashboards } from './dashboards.ts';
import { readIfMatch, renderStored, renderValidation } from './routes.ts';
import { ConfigDashboard, DashboardBody, Validation } from './schema.ts';
import type { StoredDashboard } from './store.ts';

const tags = ['ClickStack'];
const PATH = '/v1/organizations/:organizationId/services/:serviceId/clickstack/dashboards';
const { bodyLimitBytes: bodyLimit } = dashboardInterface;

const DashboardPath = Type.Object({ ...ServicePath.properties, clickStackDashboardId: Type.String() });

/**
 * The dashboards of the organization for clients of ClickStack: with the credentials and the envelope of the management
 * interface, and with tiles as configs. Every service of an organization has the same dashboards.
 */
export function clickStackDashboardRoutes({
  dashboards,
  services,
}: {
  dashboards: Dashboards;
  services: Services;
}): Routes {
  const getOrganizationId = createOrganizationReader(services);

  return (app) => {
    app.get(
      PATH,
      {
        config: { operation: 'clickStackListDashboards', roles: READERS },
        schema: {
          tags,
          summary: 'List ClickStack dashboards',
          description: 'The dashboards of the organization, ordered by name descending.',
          params: ServicePath,
          response: managementResponse(Type.Array(ConfigDashboard)),
        },
      },
      async (request, reply) => {
        const all = await dashboards.list(await getOrganizationId(request));
        return sendSuccess(request, reply, `[${(await renderAll(all, 'config')).join(',')}]`);
      },
    );

    app.get(
      `${PATH}/:clickStackDashboardId`,
      {
        config: { operation: 'clickStackGetDashboard', roles: READERS },
        schema: {
          tags,
          summary: 'Get ClickStack dashboard',
          params: DashboardPath,
          response: managementResponse(ConfigDashboard),
        },
      },
      async (request, reply) => {
        const organizationId = await getOrganizationId(request);
        return sendDashboard(
          request,
          reply,
          await dashboards.get(organizationId, request.params.clickStackDashboardId),
        );
      },
    );

    app.post(
      PATH,
      {
        bodyLimit,
        config: { operation: 'clickStackCreateDashboard', roles: ADMINS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create ClickStack dashboard',
          params: ServicePath,
          body: DashboardBody,
          response: managementResponse(ConfigDashboard),
        },
      },
      async (request, reply) => {
        const organizationId = await getOrganizationId(request);
        const inTransaction = keepResponse(request, (stored: StoredDashboard) => renderStored(stored, 'config'));
        const stored = await dashboards.create(getActor(request), organizationId, request.body, inTransaction);
        return sendDashboard(request, reply, stored);
      },
    );

    app.put(
      `${PATH}/:clickStackDashboardId`,
      {
        bodyLimit,
        config: { operation: 'clickStackUpdateDashboard', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update ClickStack dashboard',
          description: 'Replaces the whole dashboard and saves a new version. Supports If-Match.',
          params: DashboardPath,
          headers: IfMatch,
          body: DashboardBody,
          response: managementResponse(ConfigDashboard),
        },
      },
      async (request, reply) => {
        const organizationId = await getOrganizationId(request);
        const { clickStackDashboardId: id } = request.params;
        const actor = getActor(request);
        return sendDashboard(
          request,
          reply,
          await dashboards.replace(actor, organizationId, id, request.body, readIfMatch(request)),
        );
      },
    );

    app.delete(
      `${PATH}/:clickStackDashboardId`,
      {
        config: { operation: 'clickStackDeleteDashboard', roles: ADMINS },
        schema: {
          tags,
          summary: 'Delete ClickStack dashboard',
          description: 'The versions are kept, so the dashboard can be restored.',
          params: DashboardPath,
          headers: IfMatch,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const organizationId = await getOrganizationId(request);
        const { clickStackDashboardId: id } = request.params;
        await dashboards.remove(getActor(request), organizationId, id, readIfMatch(request));
        return emptySuccess(request);
      },
    );

    app.post(
      `${PATH}/validate`,
      {
        bodyLimit,
        config: { operation: 'clickStackValidateDashboard', roles: READERS },
        schema: {
          tags,
          summary: 'Validate ClickStack dashboard',
          description: 'Returns the errors of a body, or the dashboard as it would be stored. Stores nothing.',
          params: ServicePath,
          response: managementResponse(Validation),
        },
      },
      async (request, reply) => {
        const validation = await dashboards.validate(await getOrganizationId(request), request.body ?? {});
        return sendSuccess(request, reply, renderValidation(validation, 'config'));
      },
    );
  };
}

function sendDashboard(request: object, reply: object, { json }: StoredDashboard): FastifyReply {
  (reply as FastifyReply).header('etag', toFormatEtag(createEtag(json), 'config'));
  return sendSuccess(request, reply, renderFormat(json, 'config'));
}
