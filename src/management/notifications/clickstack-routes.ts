import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { ADMINS, hasRole, READERS } from '../../kernel/access/roles.ts';
import { getIdentity } from '../../platform/http/guard.ts';
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
import { getActor } from '../audit/request-actor.ts';
import { ServicePath } from '../services/schema.ts';
import type { Services } from '../services/services.ts';
import type { SavedChannel } from './channels.ts';
import type { Notifications } from './notifications.ts';
import { toWebhookRecord, WebhookBody, WebhookRecord } from './schema.ts';

const tags = ['ClickStack'];
const PATH = '/v1/organizations/:organizationId/services/:serviceId/clickstack/webhooks';
const WebhookPath = Type.Object({ ...ServicePath.properties, clickStackWebhookId: Type.String() });

interface Options {
  notifications: Notifications;
  services: Services;
}

const toRecord = (request: object, saved: SavedChannel) =>
  toWebhookRecord(saved, hasRole(getIdentity(request as FastifyRequest).roles, ADMINS));

/** The webhooks of the organization with the credentials and the envelope of the management interface. */
export function clickStackWebhookRoutes({ notifications: { channels }, services }: Options): Routes {
  const getOrganizationId = createOrganizationReader(services);

  return (app) => {
    // Responses may contain a secret, or a URL with one.
    app.addHook('onSend', async (_request, reply) => void reply.header('cache-control', 'no-store'));

    app.get(
      PATH,
      {
        config: { operation: 'clickStackListWebhooks', roles: READERS },
        schema: {
          tags,
          summary: 'List ClickStack webhooks',
          description: 'The webhooks of the organization, ordered by id.',
          params: ServicePath,
          querystring: ListQuery,
          response: managementResponse(Type.Array(WebhookRecord), { meta: ListMeta }),
        },
      },
      async (request, reply) => {
        const page = readListPage(request.query);
        const { list, total } = await channels.list(await getOrganizationId(request), page);
        (reply as unknown as FastifyReply).header('x-total-count', total);
        const records = list.map((channel) => toRecord(request, { channel }));
        return { ...success(request, records), meta: { total, ...page } };
      },
    );

    app.post(
      PATH,
      {
        config: { operation: 'clickStackCreateWebhook', roles: ADMINS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create ClickStack webhook',
          params: ServicePath,
          body: WebhookBody,
          response: managementResponse(WebhookRecord),
        },
      },
      async (request) => {
        const organizationId = await getOrganizationId(request);
        const inTransaction = keepResponse(request, (saved: SavedChannel) => ({
          result: JSON.stringify(toRecord(request, saved)),
        }));
        const saved = await channels.create(getActor(request), organizationId, request.body, inTransaction);
        return success(request, toRecord(request, saved));
      },
    );

    app.put(
      `${PATH}/:clickStackWebhookId`,
      {
        config: { operation: 'clickStackUpdateWebhook', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update ClickStack webhook',
          description:
            'Replaces the webhook: an omitted description or body is cleared. Omitted headers, queryParams and routingKey are kept, unless the url or service changes; {} clears them.',
          params: WebhookPath,
          body: WebhookBody,
          response: managementResponse(WebhookRecord),
        },
      },
      async (request) => {
        const organizationId = await getOrganizationId(request);
        const { clickStackWebhookId: id } = request.params;
        return success(
          request,
          toRecord(request, await channels.replace(getActor(request), organizationId, id, request.body)),
        );
      },
    );

    app.delete(
      `${PATH}/:clickStackWebhookId`,
      {
        config: { operation: 'clickStackDeleteWebhook', roles: ADMINS },
        schema: {
          tags,
          summary: 'Delete ClickStack webhook',
          description: '409 while an alert or a budget uses it.',
          params: WebhookPath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const organizationId = await getOrganizationId(request);
        await channels.remove(getActor(request), organizationId, request.params.clickStackWebhookId);
        return emptySuccess(request);
      },
    );
  };
}
