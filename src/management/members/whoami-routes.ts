import Type from 'typebox';
import { KEY_ROLES } from '../../kernel/access/roles.ts';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../platform/http/responses/envelopes.ts';
import type { Organizations } from '../organizations/organizations.ts';
import type { Members } from './members.ts';

const WhoamiApiKey = NamedObject('WhoamiApiKey', {
  actorType: Type.Enum(['apiKey']),
  keyId: Type.String({ format: 'uuid', description: 'The UUID of the key record' }),
  name: Type.String(),
  organizationId: Type.String({ format: 'uuid' }),
});

const WhoamiUser = NamedObject('WhoamiUser', {
  actorType: Type.Enum(['user']),
  userId: Type.String({ format: 'uuid' }),
  email: Type.String({ description: 'Empty if the identity provider sent none' }),
  name: Type.String(),
  organizations: Type.Array(
    NamedObject('WhoamiOrganization', {
      organizationId: Type.String({ format: 'uuid' }),
      organizationName: Type.String(),
    }),
    { description: 'The organization of the session' },
  ),
});

interface Options {
  members: Members;
  organizations: Organizations;
}

export const whoamiRoutes =
  ({ members, organizations }: Options): Routes =>
  (app) => {
    app.get(
      '/v1/whoami',
      {
        config: { operation: 'whoamiGet', roles: KEY_ROLES },
        schema: {
          tags: ['Keys'],
          summary: 'Get the key or member of the request',
          description: 'Needs no permission: every active key and every member may call it.',
          response: managementResponse(Type.Union([WhoamiApiKey, WhoamiUser])),
        },
      },
      async (request) => {
        const { credentialId, credentialName, organizationId, session } = getIdentity(request);
        if (session === 'member') {
          const { email, name } = (await members.get(organizationId, credentialId)).item;
          const organization = await organizations.get(organizationId);
          return success(request, {
            actorType: 'user' as const,
            userId: credentialId,
            email,
            name,
            organizations: [{ organizationId, organizationName: organization.name }],
          });
        }
        return success(request, {
          actorType: 'apiKey' as const,
          keyId: credentialId,
          name: credentialName,
          organizationId,
        });
      },
    );
  };
