import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { ADMINS, READERS } from '../../kernel/access/roles.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { ServicePath } from '../../management/services/schema.ts';
import type { Services } from '../../management/services/services.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import { ListMeta, ListQuery, readListPage } from '../../platform/http/requests/list-page.ts';
import { createOrganizationReader } from '../../platform/http/requests/service-organization.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import {
  emptyManagementResponse,
  emptySuccess,
  managementResponse,
  success,
} from '../../platform/http/responses/envelopes.ts';
import { type Alert, toAlertRecord } from './alert.ts';
import { AlertBody, AlertRecord } from './alert-schema.ts';
import type { Alerts } from './alerts.ts';

const tags = ['ClickStack'];
const PATH = '/v1/organizations/:organizationId/services/:serviceId/clickstack/alerts';
const AlertPath = Type.Object({ ...ServicePath.properties, clickStackAlertId: Type.String() });

interface Options {
  alerts: Alerts;
  clock: Clock;
  services: Services;
}

/** The alerts of the organization with the credentials and the envelope of the management interface. */
export function clickStackAlertRoutes({ alerts, clock, services }: Options): Routes {
  const getOrganizationId = createOrganizationReader(services);
  const toRecord = (alert: Alert) => toAlertRecord(alert, clock.now());

  return (app) => {
    app.get(
      PATH,
      {
        config: { operation: 'clickStackListAlerts', roles: READERS },
        schema: {
          tags,
          summary: 'List ClickStack alerts',
          description: 'The alerts of the organization, ordered by id.',
          params: ServicePath,
          querystring: ListQuery,
          response: managementResponse(Type.Array(AlertRecord), { meta: ListMeta }),
        },
      },
      async (request, reply) => {
        const page = readListPage(request.query);
        const { list, total } = await alerts.list(await getOrganizationId(request), page);
        (reply as unknown as FastifyReply).header('x-total-count', total);
        return { ...success(request, list.map(toRecord)), meta: { total, ...page } };
      },
    );

    app.get(
      `${PATH}/:clickStackAlertId`,
      {
        config: { operation: 'clickStackGetAlert', roles: READERS },
        schema: {
          tags,
          summary: 'Get ClickStack alert',
          params: AlertPath,
          response: managementResponse(AlertRecord),
        },
      },
      async (request) => {
        const organizationId = await getOrganizationId(request);
        return success(request, toRecord(await alerts.get(organizationId, request.params.clickStackAlertId)));
      },
    );

    app.post(
      PATH,
      {
        config: { operation: 'clickStackCreateAlert', roles: ADMINS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create ClickStack alert',
          params: ServicePath,
          body: AlertBody,
          response: managementResponse(AlertRecord),
        },
      },
      async (request) => {
        const organizationId = await getOrganizationId(request);
        const inTransaction = keepResponse(request, (alert: Alert) => ({
          result: JSON.stringify(toRecord(alert)),
        }));
        const created = await alerts.create(getActor(request), organizationId, request.body, inTransaction);
        return success(request, toRecord(created));
      },
    );

    app.put(
      `${PATH}/:clickStackAlertId`,
      {
        config: { operation: 'clickStackUpdateAlert', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update ClickStack alert',
          description: 'What omitted members mean is the same as for PUT /api/v2/alerts.',
          params: AlertPath,
          body: AlertBody,
          response: managementResponse(AlertRecord),
        },
      },
      async (request) => {
        const organizationId = await getOrganizationId(request);
        const { clickStackAlertId: id } = request.params;
        return success(request, toRecord(await alerts.replace(getActor(request), organizationId, id, request.body)));
      },
    );

    app.delete(
      `${PATH}/:clickStackAlertId`,
      {
        config: { operation: 'clickStackDeleteAlert', roles: ADMINS },
        schema: {
          tags,
          summary: 'Delete ClickStack alert',
          params: AlertPath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const organizationId = await getOrganizationId(request);
        await alerts.remove(getActor(request), organizationId, request.params.clickStackAlertId);
        return emptySuccess(request);
      },
    );
  };
}
