import type { onSendHookHandler } from 'fastify';
import Type from 'typebox';
import { actorOf } from '../audit/request-actor.ts';
import {
  createResultSerializer,
  emptyManagementResponse,
  emptySuccess,
  managementResponse,
  sendSuccess,
  success,
} from '../http/envelopes.ts';
import { getIdentity } from '../http/guard.ts';
import type { Routes } from '../http/validation.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import type { Keys } from './keys.ts';
import { CreateKeyBody, CreateKeyResult, KeyPath, KeyRecord, keyRecord, UpdateKeyBody } from './schema.ts';

const read = ['admin', 'developer'];
const change = ['admin'];
const tags = ['Keys'];

/** A secret may be in it. */
const notToBeStored: onSendHookHandler = (_request, reply, payload, done) => {
  reply.header('cache-control', 'no-store');
  done(null, payload);
};

const asCreated = createResultSerializer(CreateKeyResult);

export function keyRoutes({ keys }: { keys: Keys }): Routes {
  return (app) => {
    app.addHook('onRoute', (route) => {
      if (route.config?.operation?.startsWith('openapiKey')) route.onSend = notToBeStored;
    });

    app.get(
      '/v1/organizations/:organizationId/keys',
      {
        config: { operation: 'openapiKeyGetList', roles: read },
        schema: {
          tags,
          summary: 'List keys',
          params: OrganizationPath,
          response: managementResponse(Type.Array(KeyRecord)),
        },
      },
      async (request) => success(request, (await keys.list(getIdentity(request).organizationId)).map(keyRecord)),
    );

    app.post(
      '/v1/organizations/:organizationId/keys',
      {
        config: { operation: 'openapiKeyCreate', roles: change },
        schema: {
          tags,
          summary: 'Create key',
          description:
            'The key id and secret are shown this once. With hashData the caller keeps both and sends only their hashes.',
          params: OrganizationPath,
          body: CreateKeyBody,
          response: managementResponse(CreateKeyResult),
        },
      },
      async (request, reply) => {
        const { body } = request;
        const { organizationId } = getIdentity(request);
        const { key, credentials } = await keys.create(actorOf(request), organizationId, body, body.hashData);
        reply.header('cache-control', 'no-store');
        return sendSuccess(request, reply, asCreated(reply, { key: keyRecord(key), ...credentials }));
      },
    );

    app.get(
      '/v1/organizations/:organizationId/keys/:keyId',
      {
        config: { operation: 'openapiKeyGet', roles: read },
        schema: { tags, summary: 'Get key', params: KeyPath, response: managementResponse(KeyRecord) },
      },
      async (request) =>
        success(
          request,
          keyRecord(await keys.get(getIdentity(request).organizationId, request.params.keyId.toLowerCase())),
        ),
    );

    app.patch(
      '/v1/organizations/:organizationId/keys/:keyId',
      {
        config: { operation: 'openapiKeyUpdate', roles: change },
        schema: {
          tags,
          summary: 'Update key',
          description:
            'Members left out keep their value; expireAt null clears the expiry; ipAccessList is replaced whole.',
          params: KeyPath,
          body: UpdateKeyBody,
          response: managementResponse(KeyRecord),
        },
      },
      async (request) => {
        const id = request.params.keyId.toLowerCase();
        return success(
          request,
          keyRecord(await keys.update(actorOf(request), getIdentity(request).organizationId, id, request.body)),
        );
      },
    );

    app.delete(
      '/v1/organizations/:organizationId/keys/:keyId',
      {
        config: { operation: 'openapiKeyDelete', roles: change },
        schema: {
          tags,
          summary: 'Delete key',
          description: 'At once and for good.',
          params: KeyPath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        await keys.remove(actorOf(request), getIdentity(request).organizationId, request.params.keyId.toLowerCase());
        return emptySuccess(request);
      },
    );
  };
}
