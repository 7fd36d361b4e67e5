import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { READERS } from '../../kernel/access/roles.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { ServicePath } from '../../management/services/schema.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import {
  emptyManagementResponse,
  emptySuccess,
  managementResponse,
  success,
} from '../../platform/http/responses/envelopes.ts';
import { formatNextCursor, readPage } from '../../platform/http/responses/paging.ts';
import type { SavedQueries } from './saved-queries.ts';
import {
  SavedQueryBody,
  SavedQueryListItem,
  SavedQueryListQuery,
  SavedQueryPath,
  SavedQueryRecord,
  toContent,
  toListItem,
  toSavedQueryRecord,
} from './saved-query-schema.ts';
import type { SavedQuery } from './saved-query-store.ts';

const tags = ['SQL'];
const PATH = '/v1/organizations/:organizationId/services/:serviceId/saved-queries';
const MAX_LISTED = 100;

export function savedQueryRoutes({ savedQueries }: { savedQueries: SavedQueries }): Routes {
  const getOwner = (request: FastifyRequest & { params: { serviceId: string } }) => ({
    organizationId: getIdentity(request).organizationId,
    serviceId: request.params.serviceId.toLowerCase(),
  });
  return (app) => {
    app.get(
      PATH,
      {
        config: { operation: 'savedQueryList', roles: READERS },
        schema: {
          tags,
          summary: 'List saved queries',
          description: 'Oldest first. Everyone who may read the service sees them.',
          params: ServicePath,
          querystring: SavedQueryListQuery,
          response: managementResponse(Type.Array(SavedQueryListItem), {
            limit: Type.Integer(),
            totalCount: Type.Union([Type.Integer(), Type.Null()]),
            nextCursor: Type.Union([Type.String(), Type.Null()]),
          }),
        },
      },
      async (request) => {
        const { limit, after } = readPage(request, ['integer', 'text']);
        const page = { limit: Math.min(limit, MAX_LISTED), after };
        const { items, next, total } = await savedQueries.list(getOwner(request), page);
        return {
          ...success(request, items.map(toListItem)),
          limit: page.limit,
          totalCount: total,
          nextCursor: next ? formatNextCursor(request, next) : null,
        };
      },
    );

    app.post(
      PATH,
      {
        config: { operation: 'savedQueryCreate', roles: READERS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Save a query',
          params: ServicePath,
          body: SavedQueryBody,
          response: managementResponse(SavedQueryRecord),
        },
      },
      async (request) => {
        const query = await savedQueries.create(
          getActor(request),
          getOwner(request),
          toContent(request.body),
          keepResponse(request, (created: SavedQuery) => ({ result: JSON.stringify(toSavedQueryRecord(created)) })),
        );
        return success(request, toSavedQueryRecord(query));
      },
    );

    app.get(
      `${PATH}/:queryId`,
      {
        config: { operation: 'savedQueryGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get saved query',
          params: SavedQueryPath,
          response: managementResponse(SavedQueryRecord),
        },
      },
      async (request) => {
        const query = await savedQueries.get(getOwner(request), request.params.queryId.toLowerCase());
        return success(request, toSavedQueryRecord(query));
      },
    );

    app.put(
      `${PATH}/:queryId`,
      {
        config: { operation: 'savedQueryUpdate', roles: READERS },
        schema: {
          tags,
          summary: 'Replace saved query',
          params: SavedQueryPath,
          body: SavedQueryBody,
          response: managementResponse(SavedQueryRecord),
        },
      },
      async (request) => {
        const id = request.params.queryId.toLowerCase();
        const query = await savedQueries.replace(getActor(request), getOwner(request), id, toContent(request.body));
        return success(request, toSavedQueryRecord(query));
      },
    );

    app.delete(
      `${PATH}/:queryId`,
      {
        config: { operation: 'savedQueryDelete', roles: READERS },
        schema: {
          tags,
          summary: 'Delete saved query',
          params: SavedQueryPath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        await savedQueries.remove(getActor(request), getOwner(request), request.params.queryId.toLowerCase());
        return emptySuccess(request);
      },
    );
  };
}
