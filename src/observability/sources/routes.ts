import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { DASHBOARD_READERS, DASHBOARD_WRITERS } from '../../kernel/access/roles.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import { IfMatch } from '../../platform/http/requests/if-match.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { dashboardResponse, emptyDashboardResponse } from '../../platform/http/responses/envelopes.ts';
import { ResourcePath } from './resource-id.ts';
import { SourceBody, SourceRecord } from './schema.ts';
import type { Source } from './source.ts';
import { createSourceEtag, type Sources } from './sources.ts';

const tags = ['Sources'];

/** For a repeated request with the same Idempotency-Key. */
export const toKeptSource = (source: Source) => ({
  result: JSON.stringify(source),
  headers: { etag: createSourceEtag(source) },
});

function send(reply: object, source: Source) {
  (reply as FastifyReply).header('etag', createSourceEtag(source));
  return { data: source };
}

export function sourceRoutes({ sources }: { sources: Sources }): Routes {
  return (app) => {
    app.get(
      '/api/v2/sources',
      {
        config: { operation: 'listSources', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'List sources',
          description: 'The telemetry tables that series reference by sourceId, built-in sources first.',
          response: dashboardResponse(Type.Array(SourceRecord)),
        },
      },
      async (request) => ({ data: await sources.list(getIdentity(request).organizationId) }),
    );

    app.get(
      '/api/v2/sources/:id',
      {
        config: { operation: 'getSource', roles: DASHBOARD_READERS },
        schema: { tags, summary: 'Get source', params: ResourcePath, response: dashboardResponse(SourceRecord) },
      },
      async (request, reply) => send(reply, await sources.get(getIdentity(request).organizationId, request.params.id)),
    );

    app.post(
      '/api/v2/sources',
      {
        config: { operation: 'createSource', roles: DASHBOARD_WRITERS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create source',
          description:
            'The record has what was sent. Queries use the columns and tables of OpenTelemetry for omitted members.',
          body: SourceBody,
          response: dashboardResponse(SourceRecord),
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const inTransaction = keepResponse(request, toKeptSource);
        return send(reply, await sources.create(getActor(request), organizationId, request.body, inTransaction));
      },
    );

    app.put(
      '/api/v2/sources/:id',
      {
        config: { operation: 'updateSource', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Update source',
          description:
            'Replaces the whole source. Built-in sources cannot be changed (409). With If-Match, fails with 412 if the source has changed.',
          params: ResourcePath,
          headers: IfMatch,
          body: SourceBody,
          response: dashboardResponse(SourceRecord),
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const { params, body, headers } = request;
        const ifMatch = headers['if-match'];
        return send(reply, await sources.replace(getActor(request), organizationId, params.id, body, ifMatch));
      },
    );

    app.delete(
      '/api/v2/sources/:id',
      {
        config: { operation: 'deleteSource', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Delete source',
          description: 'Fails with 409 while a dashboard or a saved search uses the source.',
          params: ResourcePath,
          headers: IfMatch,
          response: emptyDashboardResponse,
        },
      },
      async (request) => {
        const { params, headers } = request;
        await sources.remove(getActor(request), getIdentity(request).organizationId, params.id, headers['if-match']);
        return {};
      },
    );
  };
}
