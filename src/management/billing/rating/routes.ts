import Type from 'typebox';
import { READERS } from '../../../kernel/access/roles.ts';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { getIdentity } from '../../../platform/http/guard.ts';
import type { Routes } from '../../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../../platform/http/responses/envelopes.ts';
import { OrganizationPath } from '../../organizations/schema.ts';
import { type UsageWarnings, WARNING_CODES } from './usage-warnings.ts';

const UsageWarningRecord = NamedObject('UsageWarning', {
  code: Type.Enum([...WARNING_CODES]),
  message: Type.String({ description: 'What is wrong' }),
  remedy: Type.String({ description: 'What an operator can do' }),
});

export function usageWarningRoutes({ usageWarnings }: { usageWarnings: Pick<UsageWarnings, 'list'> }): Routes {
  return (app) => {
    app.get(
      '/v1/organizations/:organizationId/usageWarnings',
      {
        config: { operation: 'usageWarningGetList', roles: READERS },
        schema: {
          tags: ['Billing'],
          summary: 'List usage warnings',
          description:
            'States that need an operator: days that are not rated because the engine does not have their usage events, and days that are not locked because the clock is not confirmed. Normally empty.',
          params: OrganizationPath,
          response: managementResponse(Type.Array(UsageWarningRecord)),
        },
      },
      async (request) => success(request, await usageWarnings.list(getIdentity(request).organizationId)),
    );
  };
}
