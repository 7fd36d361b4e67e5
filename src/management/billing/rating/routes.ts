import Type from 'typebox';
import { ADMINS, READERS } from '../../../kernel/access/roles.ts';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { parseDay } from '../../../kernel/time/days.ts';
import { getIdentity } from '../../../platform/http/guard.ts';
import type { Routes } from '../../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../../platform/http/responses/envelopes.ts';
import { getActor } from '../../audit/request-actor.ts';
import { OrganizationPath } from '../../organizations/schema.ts';
import type { Rating } from './rating.ts';
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

const UsageLockBody = NamedObject('UsageLockRequest', {
  through: Type.Refine(
    Type.String({
      maxLength: 10,
      description: 'The last day to lock, YYYY-MM-DD (UTC). It must be over',
      examples: ['2026-10-31'],
    }),
    (text) => typeof text !== 'string' || parseDay(text) !== undefined,
    () => 'The value must be a date such as 2026-10-31',
  ),
});

const UsageLockRecord = NamedObject('UsageLock', {
  lockedThrough: Type.String({ description: 'All days up to this one are locked' }),
  days: Type.Integer({ description: 'The days with usage that this request locked' }),
});

export function usageLockRoutes({ rating }: { rating: Pick<Rating, 'lockDays'> }): Routes {
  return (app) => {
    app.post(
      '/v1/organizations/:organizationId/usageLock',
      {
        config: { operation: 'usageLockCreate', roles: ADMINS },
        schema: {
          tags: ['Billing'],
          summary: 'Lock days',
          description:
            'Rates all open days up to a day and locks them permanently; later usage is booked on the first open day. Repeating the request changes nothing. 409 if the engine does not have the usage events of a day.',
          params: OrganizationPath,
          body: UsageLockBody,
          response: managementResponse(UsageLockRecord),
        },
      },
      async (request) => {
        const { through } = request.body;
        const days = await rating.lockDays(getActor(request), getIdentity(request).organizationId, through);
        return success(request, { lockedThrough: through, days });
      },
    );
  };
}
