import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { ADMINS, READERS } from '../../kernel/access/roles.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { ServicePath } from '../../management/services/schema.ts';
import type { Services } from '../../management/services/services.ts';
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
import { type SavedSearch, toRecord } from './saved-search.ts';
import { SavedSearchBody, SavedSearchRecord } from './saved-search-schema.ts';
import type { SavedSearches } from './saved-searches.ts';

const tags = ['ClickStack'];
const PATH = '/v1/organizations/:organizationId/services/:serviceId/clickstack/saved-searches';
const SavedSearchPath = Type.Object({ ...ServicePath.properties, clickStackSavedSearchId: Type.String() });

interface Options {
  savedSearches: SavedSearches;
  services: Services;
}

/** The saved searches of the organization with the credentials and the envelope of the management interface. */
export function clickStackSavedSearchRoutes({ savedSearches, services }: Options): Routes {
  const getOrganizationId = createOrganizationReader(services);

  return (app) => {
    app.get(
      PATH,
      {
        config: { operation: 'clickStackListSavedSearches', roles: READERS },
        schema: {
          tags,
          summary: 'List ClickStack saved searches',
          description: 'The saved searches of the organization, ordered by id.',
          params: ServicePath,
          querystring: ListQuery,
          response: managementResponse(Type.Array(SavedSearchRecord), { meta: ListMeta }),
        },
      },
      async (request, reply) => {
        const page = readListPage(request.query);
        const { list, total } = await savedSearches.list(await getOrganizationId(request), page);
        (reply as unknown as FastifyReply).header('x-total-count', total);
        return { ...success(request, list.map(toRecord)), meta: { total, ...page } };
      },
    );

    app.get(
      `${PATH}/:clickStackSavedSearchId`,
      {
        config: { operation: 'clickStackGetSavedSearch', roles: READERS },
        schema: {
          tags,
          summary: 'Get ClickStack saved search',
          params: SavedSearchPath,
          response: managementResponse(SavedSearchRecord),
        },
      },
      async (request) => {
        const organizationId = await getOrganizationId(request);
        return success(
          request,
          toRecord(await savedSearches.get(organizationId, request.params.clickStackSavedSearchId)),
        );
      },
    );

    app.post(
      PATH,
      {
        config: { operation: 'clickStackCreateSavedSearch', roles: ADMINS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create ClickStack saved search',
          params: ServicePath,
          body: SavedSearchBody,
          response: managementResponse(SavedSearchRecord),
        },
      },
      async (request) => {
        const organizationId = await getOrganizationId(request);
        const inTransaction = keepResponse(request, (search: SavedSearch) => ({
          result: JSON.stringify(toRecord(search)),
        }));
        const created = await savedSearches.create(getActor(request), organizationId, request.body, inTransaction);
        return success(request, toRecord(created));
      },
    );

    app.put(
      `${PATH}/:clickStackSavedSearchId`,
      {
        config: { operation: 'clickStackUpdateSavedSearch', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update ClickStack saved search',
          description: 'Replaces everything: omitted members get their default.',
          params: SavedSearchPath,
          body: SavedSearchBody,
          response: managementResponse(SavedSearchRecord),
        },
      },
      async (request) => {
        const organizationId = await getOrganizationId(request);
        const { clickStackSavedSearchId: id } = request.params;
        return success(
          request,
          toRecord(await savedSearches.replace(getActor(request), organizationId, id, request.body)),
        );
      },
    );

    app.delete(
      `${PATH}/:clickStackSavedSearchId`,
      {
        config: { operation: 'clickStackDeleteSavedSearch', roles: ADMINS },
        schema: {
          tags,
          summary: 'Delete ClickStack saved search',
          params: SavedSearchPath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const organizationId = await getOrganizationId(request);
        await savedSearches.remove(getActor(request), organizationId, request.params.clickStackSavedSearchId);
        return emptySuccess(request);
      },
    );
  };
}
