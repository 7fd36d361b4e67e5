import { READERS } from '../../kernel/access/roles.ts';
import { PageQuery } from '../../kernel/schemas/page-schema.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../platform/http/responses/envelopes.ts';
import { pageResponse, pageSuccess, readPage } from '../../platform/http/responses/paging.ts';
import type { Organizations } from './organizations.ts';
import { OrganizationPath, OrganizationRecord, toOrganizationRecord } from './schema.ts';

const tags = ['Organizations'];

export function organizationRoutes({ organizations }: { organizations: Organizations }): Routes {
  return (app) => {
    app.get(
      '/v1/organizations',
      {
        config: { operation: 'organizationGetList', roles: READERS },
        schema: {
          tags,
          summary: 'List organizations',
          description: 'Returns the organization of the key.',
          querystring: PageQuery,
          response: pageResponse(OrganizationRecord),
        },
      },
      async (request) => {
        const page = readPage(request, ['text']);
        const organization = toOrganizationRecord(await organizations.get(getIdentity(request).organizationId));
        const [lastId = ''] = page.after ?? [];
        return pageSuccess(request, page, organization.id > String(lastId) ? [organization] : [], undefined);
      },
    );

    app.get(
      '/v1/organizations/:organizationId',
      {
        config: { operation: 'organizationGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get organization',
          params: OrganizationPath,
          response: managementResponse(OrganizationRecord),
        },
      },
      async (request) =>
        success(request, toOrganizationRecord(await organizations.get(getIdentity(request).organizationId))),
    );
  };
}
