import Type from 'typebox';
import { KEY_ROLES } from '../../kernel/access/roles.ts';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../platform/http/responses/envelopes.ts';

const Whoami = NamedObject('WhoamiApiKey', {
  actorType: Type.Enum(['apiKey']),
  keyId: Type.String({ format: 'uuid', description: 'The UUID of the key record' }),
  name: Type.String(),
  organizationId: Type.String({ format: 'uuid' }),
});

export const whoamiRoutes: Routes = (app) => {
  app.get(
    '/v1/whoami',
    {
      config: { operation: 'whoamiGet', roles: KEY_ROLES },
      schema: {
        tags: ['Keys'],
        summary: 'Get the key of the request',
        description: 'Needs no permission: every active key may call it.',
        response: managementResponse(Whoami),
      },
    },
    async (request) => {
      const { credentialId, credentialName, organizationId } = getIdentity(request);
      return success(request, {
        actorType: 'apiKey' as const,
        keyId: credentialId,
        name: credentialName,
        organizationId,
      });
    },
  );
};
