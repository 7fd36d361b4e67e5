import { READERS } from '../../../kernel/access/roles.ts';
import { readTime } from '../../../kernel/time/query-range.ts';
import { OrganizationPath } from '../../../management/organizations/schema.ts';
import { getIdentity } from '../../../platform/http/guard.ts';
import { NoQuery, type Routes } from '../../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../../platform/http/responses/envelopes.ts';
import { ReportQuery, ReportRecord, StorageRecord, toReportRecord, toStorageRecord } from './schema.ts';
import type { TelemetryReports } from './telemetry-report.ts';

const tags = ['OpenTelemetry'];

export function telemetryRoutes({ telemetryReports }: { telemetryReports: TelemetryReports }): Routes {
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
  };
}
