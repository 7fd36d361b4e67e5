import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { ADMINS, READERS } from '../../kernel/access/roles.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { ServicePath } from '../../management/services/schema.ts';
import type { Services } from '../../management/services/services.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import { IfMatch } from '../../platform/http/requests/if-match.ts';
import { createOrganizationReader } from '../../platform/http/requests/service-organization.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import {
  emptyManagementResponse,
  emptySuccess,
  managementResponse,
  success,
} from '../../platform/http/responses/envelopes.ts';
import { toKeptSource } from './routes.ts';
import { SourceBody, SourceRecord } from './schema.ts';
import type { Source } from './source.ts';
import { createSourceEtag, type Sources } from './sources.ts';

const tags = ['ClickStack'];
const PATH = '/v1/organizations/:organizationId/services/:serviceId/clickstack/sources';
const SourcePath = Type.Object({ ...ServicePath.properties, clickStackSourceId: Type.String() });

function send(request: FastifyRequest, reply: object, source: Source) {
  (reply as FastifyReply).header('etag', createSourceEtag(source));
  return success(request, source);
}

/** The sources of the organization with the credentials and the envelope of the management interface. */
export function clickStackSourceRoutes({ sources, services }: { sources: Sources; services: Services }): Routes {
  const getOrganizationId = createOrganizationReader(services);

  return (app) => {
    app.get(
      PATH,
      {
        config: { operation: 'clickStackListSources', roles: READERS },
        schema: {
          tags,
          summary: 'List ClickStack sources',
          description: 'The sources of the organization, built-in sources first.',
          params: ServicePath,
          response: managementResponse(Type.Array(SourceRecord)),
        },
      },
      async (request) => success(request, await sources.list(await getOrganizationId(request))),
    );

    app.get(
      `${PATH}/:clickStackSourceId`,
      {
        config: { operation: 'clickStackGetSource', roles: READERS },
        schema: {
          tags,
          summary: 'Get ClickStack source',
          params: SourcePath,
          response: managementResponse(SourceRecord),
        },
      },
      async (request, reply) => {
        const organizationId = await getOrganizationId(request);
        return send(request, reply, await sources.get(organizationId, request.params.clickStackSourceId));
      },
    );

    app.post(
      PATH,
      {
        config: { operation: 'clickStackCreateSource', roles: ADMINS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create ClickStack source',
          description:
            'The record has what was sent. Queries use the columns and tables of OpenTelemetry for omitted members.',
          params: ServicePath,
          body: SourceBody,
          response: managementResponse(SourceRecord),
        },
      },
      async (request, reply) => {
        const organizationId = await getOrganizationId(request);
        const inTransaction = keepResponse(request, toKeptSource);
        const created = await sources.create(getActor(request), organizationId, request.body, inTransaction);
        return send(request, reply, created);
      },
    );

    app.put(
      `${PATH}/:clickStackSourceId`,
      {
        config: { operation: 'clickStackUpdateSource', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update ClickStack source',
          description: 'Replaces the whole source. Built-in sources cannot be changed (409). Supports If-Match.',
          params: SourcePath,
          headers: IfMatch,
          body: SourceBody,
          response: managementResponse(SourceRecord),
        },
      },
      async (request, reply) => {
        const organizationId = await getOrganizationId(request);
        const { params, body, headers } = request;
        const [actor, id] = [getActor(request), params.clickStackSourceId];
        return send(request, reply, await sources.replace(actor, organizationId, id, body, headers['if-match']));
      },
    );

    app.delete(
      `${PATH}/:clickStackSourceId`,
      {
        config: { operation: 'clickStackDeleteSource', roles: ADMINS },
        schema: {
          tags,
          summary: 'Delete ClickStack source',
          description: 'Fails with 409 while a dashboard or a saved search uses the source.',
          params: SourcePath,
          headers: IfMatch,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const organizationId = await getOrganizationId(request);
        const { params, headers } = request;
        await sources.remove(getActor(request), organizationId, params.clickStackSourceId, headers['if-match']);
        return emptySuccess(request);
      },
    );
  };
}
