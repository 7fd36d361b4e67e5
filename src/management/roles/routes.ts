import Type, { type Static } from 'typebox';
import { ADMINS, READERS } from '../../kernel/access/roles.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import {
  emptyManagementResponse,
  emptySuccess,
  managementResponse,
  success,
} from '../../platform/http/responses/envelopes.ts';
import { getActor, getCaller } from '../audit/request-actor.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import type { Roles } from './roles.ts';
import { CreateRoleBody, parseActor, RolePath, RoleRecord, toRoleRecord, UpdateRoleBody } from './schema.ts';

const tags = ['Roles'];

const toSettings = ({ policies, actors, name, removeOtherActors }: Static<typeof UpdateRoleBody>) => ({
  name,
  policies,
  actorIds: actors?.map(parseActor),
  removesOthers: removeOtherActors,
});

export function roleRoutes({ roles }: { roles: Roles }): Routes {
  return (app) => {
    app.get(
      '/v1/organizations/:organizationId/roles',
      {
        config: { operation: 'organizationRolesGetList', roles: READERS },
        schema: {
          tags,
          summary: 'List roles',
          description:
            'System roles first, then custom roles by name. The system roles admin and developer are listed twice, the second time as Admin and Member: their names in the public service.',
          params: OrganizationPath,
          response: managementResponse(Type.Array(RoleRecord)),
        },
      },
      async (request) => success(request, (await roles.list(getIdentity(request).organizationId)).map(toRoleRecord)),
    );

    app.post(
      '/v1/organizations/:organizationId/roles',
      {
        config: { operation: 'organizationRolePost', roles: ADMINS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create role',
          description: 'A custom role: policies that allow or deny permissions on the organization or on services.',
          params: OrganizationPath,
          body: CreateRoleBody,
          response: managementResponse(RoleRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const created = await roles.create(
          getActor(request),
          organizationId,
          { ...toSettings(request.body), name: request.body.name, caller: getCaller(request) },
          keepResponse(request, (role) => ({ result: JSON.stringify(toRoleRecord(role)) })),
        );
        return success(request, toRoleRecord(created));
      },
    );

    app.get(
      '/v1/organizations/:organizationId/roles/:roleId',
      {
        config: { operation: 'organizationRoleGet', roles: READERS },
        schema: { tags, summary: 'Get role', params: RolePath, response: managementResponse(RoleRecord) },
      },
      async (request) =>
        success(
          request,
          toRoleRecord(await roles.get(getIdentity(request).organizationId, request.params.roleId.toLowerCase())),
        ),
    );

    app.patch(
      '/v1/organizations/:organizationId/roles/:roleId',
      {
        config: { operation: 'organizationRolePatch', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update role',
          description:
            'Omitted fields keep their value; lists are replaced as a whole. Takes effect for the next request of each key. Only the actors of a system role can change: keys are added, and others lose the role only with removeOtherActors.',
          params: RolePath,
          body: UpdateRoleBody,
          response: managementResponse(RoleRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const id = request.params.roleId.toLowerCase();
        const settings = { ...toSettings(request.body), caller: getCaller(request) };
        return success(request, toRoleRecord(await roles.update(getActor(request), organizationId, id, settings)));
      },
    );

    app.delete(
      '/v1/organizations/:organizationId/roles/:roleId',
      {
        config: { operation: 'organizationRoleDelete', roles: ADMINS },
        schema: {
          tags,
          summary: 'Delete role',
          description: 'A role that keys have cannot be deleted (409). System roles cannot be deleted.',
          params: RolePath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        await roles.remove(getActor(request), organizationId, request.params.roleId.toLowerCase(), {
          caller: getCaller(request),
        });
        return emptySuccess(request);
      },
    );
  };
}
