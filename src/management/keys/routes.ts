import type { onSendHookHandler } from 'fastify';
import { ADMINS, READERS } from '../../kernel/access/roles.ts';
import { SortedPageQuery } from '../../kernel/schemas/page-schema.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import { alsoNaming, type Routes } from '../../platform/http/requests/validation.ts';
import {
  createResultSerializer,
  emptyManagementResponse,
  emptySuccess,
  managementResponse,
  sendSuccess,
  success,
} from '../../platform/http/responses/envelopes.ts';
import { pageResponse, pageSuccess, readSortedPage } from '../../platform/http/responses/paging.ts';
import { getActor, getCaller } from '../audit/request-actor.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import { chooseNew, type RoleChoice } from './assigned-roles.ts';
import type { Keys, RotatedKey } from './keys.ts';
import {
  CreateKeyBody,
  CreateKeyResult,
  KeyPath,
  KeyRecord,
  pickRoleChoice,
  RotateKeyBody,
  RotateKeyResult,
  TotalCount,
  toGracePeriodMs,
  toKeyRecord,
  UpdateKeyBody,
} from './schema.ts';

const tags = ['Keys'];

/** Responses may contain a secret. */
const disableCaching: onSendHookHandler = (_request, reply, payload, done) => {
  reply.header('cache-control', 'no-store');
  done(null, payload);
};

const serializeCreated = createResultSerializer(CreateKeyResult);
const serializeRotated = createResultSerializer(RotateKeyResult);

export function keyRoutes({ keys, clock }: { keys: Keys; clock: Clock }): Routes {
  return (app) => {
    app.addHook('onRoute', (route) => {
      if (route.config?.operation?.startsWith('openapiKey')) route.onSend = disableCaching;
    });
    const namingRoles = (toChoice: (body: unknown) => RoleChoice) =>
      alsoNaming((request) => keys.listRoleViolations(getIdentity(request).organizationId, toChoice(request.body)));

    app.get(
      '/v1/organizations/:organizationId/keys',
      {
        config: { operation: 'openapiKeyGetList', roles: READERS },
        schema: {
          tags,
          summary: 'List keys',
          description: 'Oldest first, in pages of at most 1,000.',
          params: OrganizationPath,
          querystring: SortedPageQuery,
          response: pageResponse(KeyRecord, { totalCount: TotalCount }),
        },
      },
      async (request) => {
        const page = readSortedPage(request, request.query);
        const { organizationId } = getIdentity(request);
        const { items, next } = await keys.listPage(organizationId, page);
        const response = pageSuccess(request, page, items.map(toKeyRecord), next);
        return 'limit' in response ? { ...response, totalCount: await keys.count(organizationId, page) } : response;
      },
    );

    app.post(
      '/v1/organizations/:organizationId/keys',
      {
        config: { operation: 'openapiKeyCreate', roles: ADMINS, isIdempotent: true },
        errorHandler: namingRoles((body) => chooseNew(pickRoleChoice(body))),
        schema: {
          tags,
          summary: 'Create key',
          description:
            'Returns the key id and secret once. With hashData, the client keeps both and sends only their hashes.',
          params: OrganizationPath,
          body: CreateKeyBody(clock),
          response: managementResponse(CreateKeyResult),
        },
      },
      async (request, reply) => {
        const { body } = request;
        const { organizationId } = getIdentity(request);
        const { key, credentials } = await keys.create(
          getActor(request),
          organizationId,
          { ...body, caller: getCaller(request) },
          body.hashData,
          keepResponse(request, (created) => ({ result: JSON.stringify({ key: toKeyRecord(created) }) })),
        );
        reply.header('cache-control', 'no-store');
        return sendSuccess(request, reply, serializeCreated(reply, { key: toKeyRecord(key), ...credentials }));
      },
    );

    app.get(
      '/v1/organizations/:organizationId/keys/:keyId',
      {
        config: { operation: 'openapiKeyGet', roles: READERS },
        schema: { tags, summary: 'Get key', params: KeyPath, response: managementResponse(KeyRecord) },
      },
      async (request) =>
        success(
          request,
          toKeyRecord(await keys.get(getIdentity(request).organizationId, request.params.keyId.toLowerCase())),
        ),
    );

    app.patch(
      '/v1/organizations/:organizationId/keys/:keyId',
      {
        config: { operation: 'openapiKeyUpdate', roles: ADMINS },
        errorHandler: namingRoles(pickRoleChoice),
        schema: {
          tags,
          summary: 'Update key',
          description:
            'Omitted fields keep their value. expireAt null removes the expiry. ipAccessList is replaced as a whole.',
          params: KeyPath,
          body: UpdateKeyBody(clock),
          response: managementResponse(KeyRecord),
        },
      },
      async (request) => {
        const id = request.params.keyId.toLowerCase();
        const { organizationId } = getIdentity(request);
        const settings = { ...request.body, caller: getCaller(request) };
        return success(request, toKeyRecord(await keys.update(getActor(request), organizationId, id, settings)));
      },
    );

    app.post(
      '/v1/organizations/:organizationId/keys/:keyId/rotate',
      {
        config: { operation: 'openapiKeyRotate', roles: ADMINS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Rotate key',
          description:
            'Creates a key with the same name, roles, IP access list and lifetime, and returns its credentials once. The old key keeps working for the grace period, then expires.',
          params: KeyPath,
          body: RotateKeyBody,
          response: managementResponse(RotateKeyResult),
        },
      },
      async (request, reply) => {
        const { gracePeriodHours, hashData } = request.body;
        const { organizationId } = getIdentity(request);
        const options = { gracePeriodMs: toGracePeriodMs(gracePeriodHours), hashData, caller: getCaller(request) };
        const id = request.params.keyId.toLowerCase();
        const toRecords = ({ key, previous }: Pick<RotatedKey, 'key' | 'previous'>) => ({
          key: toKeyRecord(key),
          previous: toKeyRecord(previous),
        });
        const rotated = await keys.rotate(
          getActor(request),
          organizationId,
          id,
          options,
          keepResponse(request, (stored: RotatedKey) => ({ result: JSON.stringify(toRecords(stored)) })),
        );
        const result = { ...toRecords(rotated), ...rotated.credentials };
        reply.header('cache-control', 'no-store');
        return sendSuccess(request, reply, serializeRotated(reply, result));
      },
    );

    app.delete(
      '/v1/organizations/:organizationId/keys/:keyId',
      {
        config: { operation: 'openapiKeyDelete', roles: ADMINS },
        schema: {
          tags,
          summary: 'Delete key',
          description: 'Takes effect immediately and cannot be undone.',
          params: KeyPath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        await keys.remove(getActor(request), organizationId, request.params.keyId.toLowerCase(), {
          caller: getCaller(request),
        });
        return emptySuccess(request);
      },
    );
  };
}
