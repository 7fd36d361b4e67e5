import type { FastifyRequest } from 'fastify';
import { ADMINS } from '../../kernel/access/roles.ts';
import { canUse } from '../../platform/http/guard.ts';
import { clickStackResource } from '../../platform/http/requests/clickstack-resource.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { getActor } from '../audit/request-actor.ts';
import { ServicePath } from '../services/schema.ts';
import type { Services } from '../services/services.ts';
import { createChannelEtag } from './channel.ts';
import type { SavedChannel } from './channels.ts';
import type { Notifications } from './notifications.ts';
import { toWebhookRecord, WebhookBody, WebhookRecord } from './schema.ts';

interface Options {
  notifications: Notifications;
  services: Services;
}

export function clickStackWebhookRoutes({ notifications: { channels }, services }: Options): Routes {
  const addRoutes = clickStackResource({
    create: channels.create,
    replace: channels.replace,
    remove: channels.remove,
    async list(organizationId, page) {
      const { list, total } = await channels.list(organizationId, page);
      return { list: list.map((channel): SavedChannel => ({ channel })), total };
    },
    management: { services, servicePath: ServicePath, getActor },
    plural: 'webhooks',
    singular: 'webhook',
    body: WebhookBody,
    record: WebhookRecord,
    descriptions: {
      list: 'The webhooks of the organization, ordered by id.',
      update:
        'Replaces the webhook: an omitted description or body is cleared. Omitted headers, queryParams and routingKey are kept, unless the url or service changes; {} clears them.',
      remove: '409 while an alert or a budget uses it. What alerts have announced there is resolved first.',
    },
    createEtag: ({ channel }) => createChannelEtag(channel),
    toRecord: (saved, request) =>
      toWebhookRecord(saved, canUse(request as FastifyRequest, 'clickStackUpdateWebhook', ADMINS)),
  });
  return (app) => {
    // Responses may contain a secret, or a URL with one.
    app.addHook('onSend', async (_request, reply) => void reply.header('cache-control', 'no-store'));
    addRoutes(app);
  };
}
