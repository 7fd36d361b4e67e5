import { ADMINS, READERS } from '../../kernel/access/roles.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { OrganizationPath } from '../../management/organizations/schema.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../platform/http/responses/envelopes.ts';
import type { Retention } from './retention.ts';
import { RetentionRecord, UpdateRetentionBody } from './retention-schema.ts';

const tags = ['OpenTelemetry'];

export function retentionRoutes({ telemetryRetention }: { telemetryRetention: Retention }): Routes {
  const { maxDays } = telemetryRetention;
  return (app) => {
    app.get(
      '/v1/organizations/:organizationId/telemetryRetention',
      {
        config: { operation: 'telemetryRetentionGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get telemetry retention',
          description: 'The days after which logs, traces and metrics are removed.',
          params: OrganizationPath,
          response: managementResponse(RetentionRecord),
        },
      },
      async (request) => {
        const days = await telemetryRetention.get(getIdentity(request).organizationId);
        return success(request, { ...days, maximum: maxDays });
      },
    );

    app.patch(
      '/v1/organizations/:organizationId/telemetryRetention',
      {
        config: { operation: 'telemetryRetentionUpdate', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update telemetry retention',
          description:
            'Days for each signal, at most the retention of the server; null for the retention of the server. Omitted signals keep their value. Rows that are older are removed within an hour, and not accepted any more.',
          params: OrganizationPath,
          body: UpdateRetentionBody,
          response: managementResponse(RetentionRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const days = await telemetryRetention.update(getActor(request), organizationId, request.body);
        return success(request, { ...days, maximum: maxDays });
      },
    );
  };
}
