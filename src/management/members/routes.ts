import Type from 'typebox';
import { ADMINS, READERS } from '../../kernel/access/roles.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import {
  emptyManagementResponse,
  emptySuccess,
  managementResponse,
  success,
} from '../../platform/http/responses/envelopes.ts';
import { getActor, getCaller } from '../audit/request-actor.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import type { Members } from './members.ts';
import { MemberPath, MemberRecord, toMemberRecord, toRoleChoice, UpdateMemberBody } from './schema.ts';

const tags = ['Members'];

export function memberRoutes({ members }: { members: Members }): Routes {
  return (app) => {
    app.get(
      '/v1/organizations/:organizationId/members',
      {
        config: { operation: 'memberGetList', roles: READERS },
        schema: {
          tags,
          summary: 'List members',
          description: 'Oldest first.',
          params: OrganizationPath,
          response: managementResponse(Type.Array(MemberRecord)),
        },
      },
      async (request) =>
        success(request, (await members.list(getIdentity(request).organizationId)).map(toMemberRecord)),
    );

    app.get(
      '/v1/organizations/:organizationId/members/:userId',
      {
        config: { operation: 'memberGet', roles: READERS },
        schema: { tags, summary: 'Get member', params: MemberPath, response: managementResponse(MemberRecord) },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        return success(request, toMemberRecord(await members.get(organizationId, request.params.userId.toLowerCase())));
      },
    );

    app.patch(
      '/v1/organizations/:organizationId/members/:userId',
      {
        config: { operation: 'memberUpdate', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update member',
          description:
            'Replaces the assigned roles. Roles that member rules give cannot be taken away (409), and the last admin cannot be demoted (409).',
          params: MemberPath,
          body: UpdateMemberBody,
          response: managementResponse(MemberRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const choice = { ...toRoleChoice(request.body), caller: getCaller(request) };
        const id = request.params.userId.toLowerCase();
        return success(request, toMemberRecord(await members.update(getActor(request), organizationId, id, choice)));
      },
    );

    app.delete(
      '/v1/organizations/:organizationId/members/:userId',
      {
        config: { operation: 'memberDelete', roles: ADMINS },
        schema: {
          tags,
          summary: 'Remove member',
          description:
            'The sessions of the member are rejected from the next request on. The last admin, and a member by the member rules, cannot be removed (409).',
          params: MemberPath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        await members.remove(getActor(request), organizationId, request.params.userId.toLowerCase(), {
          caller: getCaller(request),
        });
        return emptySuccess(request);
      },
    );
  };
}
