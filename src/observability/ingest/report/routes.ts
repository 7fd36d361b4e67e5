import { READERS } from '../../../kernel/access/roles.ts';
import { readTime } from '../../../kernel/time/query-range.ts';
import { OrganizationPath } from '../../../management/organizations/schema.ts';
import { getIdentity } from '../../../platform/http/guard.ts';
import { NoQuery, type Routes } from '../../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../../platform/http/responses/envelopes.ts';
import { ReportQuery, ReportRecord, StorageRecord, toReportRecord, toStorageRecord } from './schema.ts';
import type { TelemetryReports } from './telemetry-report.ts';
import type { TelemetryUsages } from './telemetry-usage.ts';
import { toUsageRecord, UsageQuery, UsageRecord } from './usage-schema.ts';

const tags = ['OpenTelemetry'];

interface Options {
  telemetryReports: TelemetryReports;
  telemetryUsages: TelemetryUsages;
}

export function telemetryRoutes({ telemetryReports, telemetryUsages }: Options): Routes {
  return (app) => {
    app.get(
      '/v1/organizations/:organizationId/telemetry',
      {
        config: { operation: 'telemetryGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get received telemetry',
          description:
            'What was accepted and rejected, over time and by token, service and signal, with the reasons. New counts appear after two seconds. They are kept for 90 days.',
          params: OrganizationPath,
          querystring: ReportQuery,
          response: managementResponse(ReportRecord),
        },
      },
      async (request) => {
        const { from, to, tokenId, ...rest } = request.query;
        const filter = {
          ...rest,
          from: readTime(from, 'from'),
          to: readTime(to, 'to'),
          tokenId: tokenId?.toLowerCase(),
        };
        return success(
          request,
          toReportRecord(await telemetryReports.getReport(getIdentity(request).organizationId, filter)),
        );
      },
    );

    app.get(
      '/v1/organizations/:organizationId/telemetry/storage',
      {
        config: { operation: 'telemetryStorageGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get stored telemetry',
          description:
            'Rows, size on disk and oldest row of each signal, and the attribute keys that take the most space.',
          params: OrganizationPath,
          querystring: NoQuery,
          response: managementResponse(StorageRecord),
        },
      },
      async (request) =>
        success(request, toStorageRecord(await telemetryReports.getStorage(getIdentity(request).organizationId))),
    );

    app.get(
      '/v1/organizations/:organizationId/telemetry/usage',
      {
        config: { operation: 'telemetryUsageGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get telemetry usage',
          description:
            'How much of its limits the organization uses and by which services, what was rejected by reason, what rules dropped, and the attributes that were removed. New counts appear after two seconds. They are kept for 90 days.',
          params: OrganizationPath,
          querystring: UsageQuery,
          response: managementResponse(UsageRecord),
        },
      },
      async (request) => {
        const { from, to } = request.query;
        const range = { from: readTime(from, 'from'), to: readTime(to, 'to') };
        return success(request, toUsageRecord(await telemetryUsages.get(getIdentity(request).organizationId, range)));
      },
    );
  };
}
