import { ADMINS, READERS } from '../../../kernel/access/roles.ts';
import { getActor } from '../../../management/audit/request-actor.ts';
import { OrganizationPath } from '../../../management/organizations/schema.ts';
import { getIdentity } from '../../../platform/http/guard.ts';
import type { Routes } from '../../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../../platform/http/responses/envelopes.ts';
import { LimitsRecord, toLimitsRecord, UpdateLimitsBody } from './limits-schema.ts';
import type { TelemetryLimitSettings } from './telemetry-limits.ts';

const tags = ['OpenTelemetry'];
const PATH = '/v1/organizations/:organizationId/telemetryLimits';

export function limitsRoutes({ telemetryLimits }: { telemetryLimits: TelemetryLimitSettings }): Routes {
  const { maximum } = telemetryLimits;
  return (app) => {
    app.get(
      PATH,
      {
        config: { operation: 'telemetryLimitsGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get telemetry limits',
          description: 'What the organization may send, of each signal, with all of its tokens and to all nodes.',
          params: OrganizationPath,
          response: managementResponse(LimitsRecord),
        },
      },
      async (request) =>
        success(request, toLimitsRecord(await telemetryLimits.get(getIdentity(request).organizationId), maximum)),
    );

    app.patch(
      PATH,
      {
        config: { operation: 'telemetryLimitsUpdate', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update telemetry limits',
          description:
            'Limits for each signal, at most those of the server; null for the limit of the server. Omitted limits keep their value.',
          params: OrganizationPath,
          body: UpdateLimitsBody,
          response: managementResponse(LimitsRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const limits = await telemetryLimits.update(getActor(request), organizationId, request.body);
        return success(request, toLimitsRecord(limits, maximum));
      },
    );
  };
}
