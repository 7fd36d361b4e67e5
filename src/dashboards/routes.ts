import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { dashboardAnswer, sendRendered } from '../http/envelopes.ts';
import { callerOf } from '../http/guard.ts';
import type { Routes } from '../http/validation.ts';
import { READ } from './authentication.ts';
import type { Dashboards } from './dashboards.ts';
import { Dashboard } from './schema.ts';

const roles = READ;
const tags = ['Dashboards'];

export function dashboardRoutes({ dashboards }: { dashboards: Dashboards }): Routes {
  return (app) => {
    app.get(
      '/api/v2/dashboards',
      {
        config: { operation: 'listDashboards', roles },
        schema: {
          tags,
          summary: 'List dashboards',
          description: 'All of them, whole, by name descending.',
          response: dashboardAnswer(Type.Array(Dashboard)),
        },
      },
      async (request, reply) => {
        const list = await dashboards.list(callerOf(request).organizationId);
        return sendUnlessKnown(request, reply, `{"data":${JSON.stringify(list)}}`);
      },
    );

    app.get(
      '/api/v2/dashboards/:id',
      {
        config: { operation: 'getDashboard', roles },
        schema: {
          tags,
          summary: 'Get dashboard',
          params: Type.Object({ id: Type.String() }),
          response: dashboardAnswer(Dashboard),
        },
      },
      async (request, reply) => {
        const json = await dashboards.getJson(callerOf(request).organizationId, request.params.id);
        return sendUnlessKnown(request, reply, `{"data":${json}}`);
      },
    );
  };
}

/** 304 when the client already has these very bytes. */
function sendUnlessKnown(request: FastifyRequest, reply: object, json: string): FastifyReply {
  const etag = `"${hash('sha1', json, 'base64url')}"`;
  const answer = (reply as FastifyReply).header('etag', etag).header('cache-control', 'private, no-cache');
  const known = [request.headers['if-none-match'] ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(etag) || known.includes('*')) return answer.code(304).send();
  return sendRendered(answer, json);
}
