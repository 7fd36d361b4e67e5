import { READERS } from '../../kernel/access/roles.ts';
import { DRIVERS, type DriverName, type SlowQuery } from '../../management/services/driver.ts';
import { ServicePath } from '../../management/services/schema.ts';
import type { Services } from '../../management/services/services.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../platform/http/responses/envelopes.ts';
import { DEFAULT_LOG_LINES, LogQuery, ServiceLog, SlowQueries, toSlowQuery } from './log-schema.ts';

export interface LogRouteOptions {
  services: Services;
  /** The last lines of the log of an embedded service in the data directory of this node. */
  readLog(serviceId: string, maxLines: number): { lines: string[]; hasEarlier: boolean };
  /** The id of that data directory. */
  getDirectoryId(): string;
  /** Undefined if the service does not run, or another node runs it. */
  listSlowQueries(serviceId: string): Promise<SlowQuery[] | undefined>;
}

export function logRoutes({ services, readLog, getDirectoryId, listSlowQueries }: LogRouteOptions): Routes {
  /** Why this node has no log of the service. */
  const findReason = (name: string, driver: DriverName, placement: string | undefined): string | undefined => {
    if (!DRIVERS[driver].isLocal) return `${name} has the driver ${driver}; only embedded services have a log here`;
    return placement === undefined || placement === getDirectoryId()
      ? undefined
      : `Another node runs ${name} and has its log`;
  };
  return (app) => {
    app.get(
      '/v1/organizations/:organizationId/services/:serviceId/logs',
      {
        config: { operation: 'instanceLogGet', roles: READERS },
        schema: {
          tags: ['Services'],
          summary: 'Get log of service',
          description:
            'The last lines of the error log of an embedded service, from the last 256 KiB. Without a log on this node, there are no lines, and a reason.',
          params: ServicePath,
          querystring: LogQuery,
          response: managementResponse(ServiceLog),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const id = request.params.serviceId.toLowerCase();
        const { name, driver, observed } = await services.get(organizationId, id);
        const reason = findReason(name, driver, observed.placement);
        if (reason !== undefined) return success(request, { lines: [], hasEarlier: false, reason });
        return success(request, readLog(id, request.query.lines ?? DEFAULT_LOG_LINES));
      },
    );

    app.get(
      '/v1/organizations/:organizationId/services/:serviceId/slowQueries',
      {
        config: { operation: 'instanceSlowQueriesGet', roles: READERS },
        schema: {
          tags: ['Services'],
          summary: 'List slow queries of service',
          description:
            'The slowest queries of the last 24 hours, from the query log of an embedded service. Queries appear within 8 seconds. Reading the log does not wake the service: if it does not run, there is a reason instead.',
          params: ServicePath,
          response: managementResponse(SlowQueries),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const id = request.params.serviceId.toLowerCase();
        const { name, driver, observed } = await services.get(organizationId, id);
        const reason = findReason(name, driver, observed.placement);
        const found = reason === undefined ? await listSlowQueries(id) : [];
        return success(request, {
          queries: (found ?? []).map(toSlowQuery),
          reason: reason ?? (found ? undefined : `${name} does not run now; its query log can be read when it runs`),
        });
      },
    );
  };
}
