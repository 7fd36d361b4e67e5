import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { DASHBOARD_READERS, DASHBOARD_WRITERS } from '../../kernel/access/roles.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import { IfMatch } from '../../platform/http/requests/if-match.ts';
import { ListMeta, ListQuery, readListPage } from '../../platform/http/requests/list-page.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { dashboardResponse, emptyDashboardResponse } from '../../platform/http/responses/envelopes.ts';
import { ResourcePath } from '../sources/resource-id.ts';
import { type Alert, createAlertEtag, toAlertRecord } from './alert.ts';
import { AlertBody, AlertRecord } from './alert-schema.ts';
import type { Alerts } from './alerts.ts';

const tags = ['Alerts'];
const PATH = '/api/v2/alerts';

export function alertRoutes({ alerts, clock }: { alerts: Alerts; clock: Clock }): Routes {
  const toRecord = (alert: Alert) => toAlertRecord(alert, clock.now());
  const send = (reply: object, alert: Alert) => {
    (reply as FastifyReply).header('etag', createAlertEtag(alert));
    return { data: toRecord(alert) };
  };
  return (app) => {
    app.get(
      PATH,
      {
        config: { operation: 'listAlerts', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'List alerts',
          description: 'Ordered by id. The header X-Total-Count has the number of all alerts, as meta.total.',
          querystring: ListQuery,
          response: {
            200: Type.Object({ data: Type.Array(AlertRecord), meta: ListMeta }, { description: 'Success' }),
          },
        },
      },
      async (request, reply) => {
        const page = readListPage(request.query);
        const { list, total } = await alerts.list(getIdentity(request).organizationId, page);
        (reply as unknown as FastifyReply).header('x-total-count', total);
        return { data: list.map(toRecord), meta: { total, ...page } };
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: { operation: 'getAlert', roles: DASHBOARD_READERS },
        schema: { tags, summary: 'Get alert', params: ResourcePath, response: dashboardResponse(AlertRecord) },
      },
      async (request, reply) => send(reply, await alerts.get(getIdentity(request).organizationId, request.params.id)),
    );

    app.post(
      PATH,
      {
        config: { operation: 'createAlert', roles: DASHBOARD_WRITERS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create alert',
          description:
            'Evaluates a saved search, a tile, a metric or a condition of resources after each window, and notifies channels when its state changes.',
          body: AlertBody,
          response: dashboardResponse(AlertRecord),
        },
      },
      async (request, reply) => {
        const inTransaction = keepResponse(request, (alert: Alert) => ({
          result: JSON.stringify(toRecord(alert)),
          headers: { etag: createAlertEtag(alert) },
        }));
        const { organizationId } = getIdentity(request);
        return send(reply, await alerts.create(getActor(request), organizationId, request.body, inTransaction));
      },
    );

    app.put(
      `${PATH}/:id`,
      {
        config: { operation: 'updateAlert', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Update alert',
          description:
            'Omitted name, message, note, numConsecutiveWindows and groupBy are cleared. Omitted thresholdMax, scheduleStartAt and scheduleOffsetMinutes keep their value, and so do members that the public interface does not have; null sets their default. With If-Match, fails with 412 if the alert has changed; its state does not count.',
          params: ResourcePath,
          headers: IfMatch,
          body: AlertBody,
          response: dashboardResponse(AlertRecord),
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const { params, body, headers } = request;
        const ifMatch = headers['if-match'];
        return send(reply, await alerts.replace(getActor(request), organizationId, params.id, body, ifMatch));
      },
    );

    app.delete(
      `${PATH}/:id`,
      {
        config: { operation: 'deleteAlert', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Delete alert',
          description: 'If it was announced as firing, "resolved" is sent.',
          params: ResourcePath,
          headers: IfMatch,
          response: emptyDashboardResponse,
        },
      },
      async (request) => {
        const { params, headers } = request;
        await alerts.remove(getActor(request), getIdentity(request).organizationId, params.id, headers['if-match']);
        return {};
      },
    );
  };
}
