import { READERS } from '../../kernel/access/roles.ts';
import { DRIVERS, type DriverName } from '../../management/services/driver.ts';
import { ServicePath } from '../../management/services/schema.ts';
import type { Services } from '../../management/services/services.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../platform/http/responses/envelopes.ts';
import { DEFAULT_LOG_LINES, LogQuery, ServiceLog } from './log-schema.ts';

interface Options {
  services: Services;
  /** The last lines of the log of an embedded service in the data directory of this node. */
  readLog(serviceId: string, maxLines: number): { lines: string[]; hasEarlier: boolean };
  /** The id of that data directory. */
  getDirectoryId(): string;
}

export function logRoutes({ services, readLog, getDirectoryId }: Options): Routes {
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
  };
}
