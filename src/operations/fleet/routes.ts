import { ADMINS } from '../../kernel/access/roles.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import { OrganizationPath, OrganizationRecord, toOrganizationRecord } from '../../management/organizations/schema.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../platform/http/responses/envelopes.ts';
import type { Fleet } from './fleet.ts';
import { UpdateOrganizationBody } from './organization-schema.ts';

/** Here and not with the other operations of organizations, because only this domain knows what a file declares. */
export function organizationChangeRoutes({
  fleet,
  organizations,
}: {
  fleet: Pick<Fleet, 'updateOrganization'>;
  organizations: Organizations;
}): Routes {
  return (app) => {
    app.patch(
      '/v1/organizations/:organizationId',
      {
        config: { operation: 'organizationUpdate', roles: ADMINS },
        schema: {
          tags: ['Organizations'],
          summary: 'Update organization',
          description:
            'Renames an organization, or changes whether its activities have the literals of statements. One that is declared in a fleet file is renamed there (409).',
          params: OrganizationPath,
          body: UpdateOrganizationBody,
          response: managementResponse(OrganizationRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const { name, keepSqlLiterals } = request.body;
        const organization =
          name === undefined && keepSqlLiterals === undefined
            ? await organizations.get(organizationId)
            : await fleet.updateOrganization(getActor(request), organizationId, { name, keepSqlLiterals });
        return success(request, toOrganizationRecord(organization));
      },
    );
  };
}
