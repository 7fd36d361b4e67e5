import Type from 'typebox';
import { DASHBOARD_READERS, DASHBOARD_WRITERS } from '../../kernel/access/roles.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { dashboardResponse } from '../../platform/http/responses/envelopes.ts';
import { formatNextCursor, readPage } from '../../platform/http/responses/paging.ts';
import { getActor } from '../audit/request-actor.ts';
import type { Notifications } from './notifications.ts';
import { NotificationQuery, NotificationRecord, toNotificationRecord } from './schema.ts';

const tags = ['Notifications'];
const DEFAULT_LIMIT = 50;

export function notificationRoutes({ notifications }: { notifications: Notifications }): Routes {
  return (app) => {
    app.get(
      '/api/v2/notifications',
      {
        config: { operation: 'listNotifications', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'List notifications',
          description:
            'What was sent in the last 30 days and what is still to be sent, newest first, with the last request and its response.',
          querystring: NotificationQuery,
          response: {
            200: Type.Object(
              {
                data: Type.Array(NotificationRecord),
                nextCursor: Type.Union([Type.String(), Type.Null()], { description: 'null on the last page' }),
              },
              { description: 'Success' },
            ),
          },
        },
      },
      async (request) => {
        const { subjectId, channelId, status, limit = DEFAULT_LIMIT } = request.query;
        const { after } = readPage(request, ['integer', 'text']);
        const before = after && { createdAt: Number(after[0]), id: String(after[1]) };
        const filter = { subjectId, channelId, status, limit: limit + 1, before };
        const list = await notifications.list(getIdentity(request).organizationId, filter);
        const page = list.slice(0, limit);
        const last = list.length > limit ? page.at(-1) : undefined;
        return {
          data: page.map(toNotificationRecord),
          nextCursor: last ? formatNextCursor(request, [last.createdAt, last.id]) : null,
        };
      },
    );

    app.post(
      '/api/v2/notifications/:id/send-again',
      {
        config: { operation: 'sendNotificationAgain', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Send a notification again',
          description: 'Repeats all attempts, with the same id. Also for notifications that were delivered.',
          params: Type.Object({ id: Type.String() }),
          response: dashboardResponse(NotificationRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const id = request.params.id.toLowerCase();
        return { data: toNotificationRecord(await notifications.sendAgain(getActor(request), organizationId, id)) };
      },
    );
  };
}
