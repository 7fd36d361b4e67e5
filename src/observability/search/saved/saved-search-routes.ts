import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { DASHBOARD_READERS, DASHBOARD_WRITERS } from '../../../kernel/access/roles.ts';
import { getActor } from '../../../management/audit/request-actor.ts';
import { getIdentity } from '../../../platform/http/guard.ts';
import { keepResponse } from '../../../platform/http/requests/idempotency.ts';
import { IfMatch } from '../../../platform/http/requests/if-match.ts';
import { ListMeta, ListQuery, readListPage } from '../../../platform/http/requests/list-page.ts';
import type { Routes } from '../../../platform/http/requests/validation.ts';
import { dashboardResponse, emptyDashboardResponse } from '../../../platform/http/responses/envelopes.ts';
import { ResourcePath } from '../../sources/resource-id.ts';
import { createSavedSearchEtag, type SavedSearch, toRecord } from './saved-search.ts';
import { SavedSearchBody, SavedSearchRecord } from './saved-search-schema.ts';
import type { SavedSearches } from './saved-searches.ts';

const tags = ['Search'];
const PATH = '/api/v2/saved-searches';

export function savedSearchRoutes({ savedSearches }: { savedSearches: SavedSearches }): Routes {
  const send = (reply: object, search: SavedSearch) => {
    (reply as FastifyReply).header('etag', createSavedSearchEtag(search));
    return { data: toRecord(search) };
  };
  return (app) => {
    app.get(
      PATH,
      {
        config: { operation: 'listSavedSearches', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'List saved searches',
          description: 'Ordered by id. The header X-Total-Count has the number of all saved searches, as meta.total.',
          querystring: ListQuery,
          response: {
            200: Type.Object({ data: Type.Array(SavedSearchRecord), meta: ListMeta }, { description: 'Success' }),
          },
        },
      },
      async (request, reply) => {
        const page = readListPage(request.query);
        const { list, total } = await savedSearches.list(getIdentity(request).organizationId, page);
        (reply as unknown as FastifyReply).header('x-total-count', total);
        return { data: list.map(toRecord), meta: { total, ...page } };
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: { operation: 'getSavedSearch', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'Get saved search',
          params: ResourcePath,
          response: dashboardResponse(SavedSearchRecord),
        },
      },
      async (request, reply) =>
        send(reply, await savedSearches.get(getIdentity(request).organizationId, request.params.id)),
    );

    app.post(
      PATH,
      {
        config: { operation: 'createSavedSearch', roles: DASHBOARD_WRITERS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create saved search',
          body: SavedSearchBody,
          response: dashboardResponse(SavedSearchRecord),
        },
      },
      async (request, reply) => {
        const inTransaction = keepResponse(request, (search: SavedSearch) => ({
          result: JSON.stringify(toRecord(search)),
          headers: { etag: createSavedSearchEtag(search) },
        }));
        const { organizationId } = getIdentity(request);
        return send(reply, await savedSearches.create(getActor(request), organizationId, request.body, inTransaction));
      },
    );

    app.put(
      `${PATH}/:id`,
      {
        config: { operation: 'updateSavedSearch', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Update saved search',
          description:
            'Replaces everything: omitted members get their default. With If-Match, fails with 412 if the saved search has changed.',
          params: ResourcePath,
          headers: IfMatch,
          body: SavedSearchBody,
          response: dashboardResponse(SavedSearchRecord),
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const { params, body, headers } = request;
        const ifMatch = headers['if-match'];
        return send(reply, await savedSearches.replace(getActor(request), organizationId, params.id, body, ifMatch));
      },
    );

    app.delete(
      `${PATH}/:id`,
      {
        config: { operation: 'deleteSavedSearch', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Delete saved search',
          params: ResourcePath,
          headers: IfMatch,
          response: emptyDashboardResponse,
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const { params, headers } = request;
        await savedSearches.remove(getActor(request), organizationId, params.id, headers['if-match']);
        return {};
      },
    );
  };
}
