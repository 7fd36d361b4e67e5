import Type from 'typebox';
import { DASHBOARD_READERS, DASHBOARD_WRITERS } from '../../kernel/access/roles.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { dashboardResponse, emptyDashboardResponse } from '../../platform/http/responses/envelopes.ts';
import { ResourcePath } from './resource-id.ts';
import { SourceBody, SourceRecord } from './schema.ts';
import type { Sources } from './sources.ts';

const tags = ['Sources'];

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
      async (request) => ({ data: await sources.get(getIdentity(request).organizationId, request.params.id) }),
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
      async (request) => ({
        data: await sources.create(
          getActor(request),
          getIdentity(request).organizationId,
          request.body,
          keepResponse(request, (source) => ({ result: JSON.stringify(source) })),
        ),
      }),
    );

    app.put(
      '/api/v2/sources/:id',
      {
        config: { operation: 'updateSource', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Update source',
          description: 'Replaces the whole source. Built-in sources cannot be changed (409).',
          params: ResourcePath,
          body: SourceBody,
          response: dashboardResponse(SourceRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        return { data: await sources.replace(getActor(request), organizationId, request.params.id, request.body) };
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
          response: emptyDashboardResponse,
        },
      },
      async (request) => {
        await sources.remove(getActor(request), getIdentity(request).organizationId, request.params.id);
        return {};
      },
    );
  };
}
