import Type from 'typebox';
import { managementResponse, success } from '../http/envelopes.ts';
import { getIdentity } from '../http/guard.ts';
import type { Routes } from '../http/validation.ts';
import { isoSeconds } from '../kernel/clock.ts';
import { READERS } from '../kernel/roles.ts';
import type { Organization } from './organization.ts';
import type { Organizations } from './organizations.ts';
import { OrganizationPath, OrganizationRecord } from './schema.ts';

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
          response: managementResponse(Type.Array(OrganizationRecord)),
        },
      },
      async (request) => success(request, [toRecord(await organizations.get(getIdentity(request).organizationId))]),
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
      async (request) => success(request, toRecord(await organizations.get(getIdentity(request).organizationId))),
    );
  };
}

const toRecord = ({ id, name, createdAt, tier }: Organization) => ({
  id,
  name,
  createdAt: isoSeconds(createdAt),
  tier,
  privateEndpoints: [],
});
