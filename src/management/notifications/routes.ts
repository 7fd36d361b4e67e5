import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { DASHBOARD_READERS, DASHBOARD_WRITERS } from '../../kernel/access/roles.ts';
import { canUse, getIdentity } from '../../platform/http/guard.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import { IfMatch } from '../../platform/http/requests/if-match.ts';
import { ListMeta, ListQuery, readListPage } from '../../platform/http/requests/list-page.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { dashboardResponse, emptyDashboardResponse } from '../../platform/http/responses/envelopes.ts';
import { getActor } from '../audit/request-actor.ts';
import { createChannelEtag } from './channel.ts';
import type { SavedChannel } from './channels.ts';
import type { Notifications } from './notifications.ts';
import { toWebhookRecord, WebhookBody, WebhookRecord, WebhookTest } from './schema.ts';

const tags = ['Notifications'];
const PATH = '/api/v2/webhooks';
const WebhookPath = Type.Object({ id: Type.String() });

const send = (request: object, reply: object, saved: SavedChannel) => {
  (reply as FastifyReply).header('etag', createChannelEtag(saved.channel));
  return { data: toRecord(request, saved) };
};

const toRecord = (request: object, saved: SavedChannel) =>
  toWebhookRecord(saved, canUse(request as FastifyRequest, 'updateWebhook', DASHBOARD_WRITERS));

/** Channels, which the public interface calls webhooks. It has no GET of a single one; that is a 405. */
export function webhookRoutes({ notifications: { channels } }: { notifications: Notifications }): Routes {
  return (app) => {
    // Responses may contain a secret, or a URL with one.
    app.addHook('onSend', async (_request, reply) => void reply.header('cache-control', 'no-store'));

    app.get(
      PATH,
      {
        config: { operation: 'listWebhooks', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'List webhooks',
          description: 'Ordered by id. The header X-Total-Count has the number of all webhooks, as meta.total.',
          querystring: ListQuery,
          response: {
            200: Type.Object({ data: Type.Array(WebhookRecord), meta: ListMeta }, { description: 'Success' }),
          },
        },
      },
      async (request, reply) => {
        const page = readListPage(request.query);
        const { list, total } = await channels.list(getIdentity(request).organizationId, page);
        (reply as unknown as FastifyReply).header('x-total-count', total);
        return { data: list.map((channel) => toRecord(request, { channel })), meta: { total, ...page } };
      },
    );

    app.post(
      PATH,
      {
        config: { operation: 'createWebhook', roles: DASHBOARD_WRITERS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create webhook',
          description:
            'Where alerts and budgets send notifications: a webhook, Slack, incident.io, Microsoft Teams, PagerDuty or mail. Requests to generic and incidentio are signed; the secret is shown once, in this response.',
          body: WebhookBody,
          response: dashboardResponse(WebhookRecord),
        },
      },
      async (request, reply) => {
        const inTransaction = keepResponse(request, (saved: SavedChannel) => ({
          result: JSON.stringify(toRecord(request, saved)),
          headers: { etag: createChannelEtag(saved.channel) },
        }));
        const { organizationId } = getIdentity(request);
        return send(
          request,
          reply,
          await channels.create(getActor(request), organizationId, request.body, inTransaction),
        );
      },
    );

    app.put(
      `${PATH}/:id`,
      {
        config: { operation: 'updateWebhook', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Update webhook',
          description:
            'Replaces the webhook: an omitted description or body is cleared. Omitted headers, queryParams and routingKey are kept, unless the url or service changes; {} clears them. With If-Match, fails with 412 if the webhook has changed.',
          params: WebhookPath,
          headers: IfMatch,
          body: WebhookBody,
          response: dashboardResponse(WebhookRecord),
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const { params, body, headers } = request;
        const ifMatch = headers['if-match'];
        return send(
          request,
          reply,
          await channels.replace(getActor(request), organizationId, params.id, body, ifMatch),
        );
      },
    );

    app.delete(
      `${PATH}/:id`,
      {
        config: { operation: 'deleteWebhook', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Delete webhook',
          description: '409 while an alert or a budget uses it. What alerts have announced there is resolved first.',
          params: WebhookPath,
          headers: IfMatch,
          response: emptyDashboardResponse,
        },
      },
      async (request) => {
        const { params, headers } = request;
        await channels.remove(getActor(request), getIdentity(request).organizationId, params.id, headers['if-match']);
        return {};
      },
    );

    app.post(
      `${PATH}/:id/rotate-secret`,
      {
        config: { operation: 'rotateWebhookSecret', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Replace the signing secret',
          description:
            'Requests are signed with the new secret at once, also those that are sent again. It is shown once, in this response. 409 for services whose requests are not signed.',
          params: WebhookPath,
          response: dashboardResponse(WebhookRecord),
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        return send(request, reply, await channels.rotateSecret(getActor(request), organizationId, request.params.id));
      },
    );

    app.post(
      `${PATH}/:id/test`,
      {
        config: { operation: 'testWebhook', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Send a test',
          description: 'Sends a test now, once, and returns what the receiver answered.',
          params: WebhookPath,
          response: dashboardResponse(WebhookTest),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const { error, exchange } = await channels.test(getActor(request), organizationId, request.params.id);
        const { status, answer, tookMs } = exchange ?? {};
        return { data: { isDelivered: error === undefined, status, answer, tookMs, error } };
      },
    );
  };
}
