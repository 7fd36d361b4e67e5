import Type from 'typebox';
import { ADMINS, READERS } from '../../kernel/access/roles.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { getActor, getCaller } from '../../management/audit/request-actor.ts';
import { OrganizationPath } from '../../management/organizations/schema.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import {
  emptyManagementResponse,
  emptySuccess,
  managementResponse,
  success,
} from '../../platform/http/responses/envelopes.ts';
import {
  CreateTokenBody,
  CreateTokenResult,
  TokenPath,
  TokenRecord,
  toTokenRecord,
  UpdateTokenBody,
} from './schema.ts';
import type { Tokens } from './tokens.ts';

const tags = ['Dashboard tokens'];

/** Tokens are managed with a key, on the management interface. */
export function tokenRoutes({ tokens, clock }: { tokens: Tokens; clock: Clock }): Routes {
  return (app) => {
    app.addHook('onSend', async (_request, reply) => void reply.header('cache-control', 'no-store'));

    app.get(
      '/v1/organizations/:organizationId/dashboardTokens',
      {
        config: { operation: 'dashboardTokenGetList', roles: READERS },
        schema: {
          tags,
          summary: 'List dashboard tokens',
          params: OrganizationPath,
          response: managementResponse(Type.Array(TokenRecord)),
        },
      },
      async (request) => success(request, (await tokens.list(getIdentity(request).organizationId)).map(toTokenRecord)),
    );

    app.post(
      '/v1/organizations/:organizationId/dashboardTokens',
      {
        config: { operation: 'dashboardTokenCreate', roles: ADMINS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create dashboard token',
          description: 'Returns the token once.',
          params: OrganizationPath,
          body: CreateTokenBody(clock),
          response: managementResponse(CreateTokenResult),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const { token, text } = await tokens.create(
          getActor(request),
          organizationId,
          { ...request.body, caller: getCaller(request) },
          keepResponse(request, (created) => ({ result: JSON.stringify({ dashboardToken: toTokenRecord(created) }) })),
        );
        return success(request, { dashboardToken: toTokenRecord(token), token: text });
      },
    );

    app.patch(
      '/v1/organizations/:organizationId/dashboardTokens/:tokenId',
      {
        config: { operation: 'dashboardTokenUpdate', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update dashboard token',
          description:
            'Omitted fields keep their value. expireAt null removes the expiry. The token itself stays the same.',
          params: TokenPath,
          body: UpdateTokenBody(clock),
          response: managementResponse(TokenRecord),
        },
      },
      async (request) => {
        const id = request.params.tokenId.toLowerCase();
        const { organizationId } = getIdentity(request);
        const fields = { ...request.body, caller: getCaller(request) };
        return success(request, toTokenRecord(await tokens.update(getActor(request), organizationId, id, fields)));
      },
    );

    app.delete(
      '/v1/organizations/:organizationId/dashboardTokens/:tokenId',
      {
        config: { operation: 'dashboardTokenDelete', roles: ADMINS },
        schema: {
          tags,
          summary: 'Delete dashboard token',
          description: 'The token is rejected from the next request on.',
          params: TokenPath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        await tokens.remove(getActor(request), organizationId, request.params.tokenId.toLowerCase(), {
          caller: getCaller(request),
        });
        return emptySuccess(request);
      },
    );
  };
}
