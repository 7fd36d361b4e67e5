import Type from 'typebox';
import { managementResponse, success } from '../http/envelopes.ts';
import { getIdentity } from '../http/guard.ts';
import type { Routes } from '../http/validation.ts';
import { NamedObject } from '../kernel/named-object.ts';
import { KEY_ROLES } from '../kernel/roles.ts';

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
