import { managementResponse, success } from '../http/envelopes.ts';
import { getIdentity } from '../http/guard.ts';
import type { Routes } from '../http/validation.ts';
import { AppError } from '../kernel/errors.ts';
import { READERS } from '../kernel/roles.ts';
import { ServicePath } from '../services/schema.ts';
import type { Services } from '../services/services.ts';
import { DEFAULT_LOG_LINES, LogQuery, ServiceLog } from './log-schema.ts';

interface Options {
  services: Services;
  /** The last lines of the log of an embedded service in the data directory of this node. */
  readLog(serviceId: string, maxLines: number): Promise<{ lines: string[]; hasEarlier: boolean }>;
  /** The id of that data directory. */
  getDirectoryId(): string;
}

export function logRoutes({ services, readLog, getDirectoryId }: Options): Routes {
  return (app) => {
    app.get(
      '/v1/organizations/:organizationId/services/:serviceId/logs',
      {
        config: { operation: 'instanceLogGet', roles: READERS },
        schema: {
          tags: ['Services'],
          summary: 'Get log of service',
          description:
            'The last lines of the error log of an embedded service, from the last 256 KiB. 409 for other drivers, and on a node that does not run the service.',
          params: ServicePath,
          querystring: LogQuery,
          response: managementResponse(ServiceLog),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const id = request.params.serviceId.toLowerCase();
        const { name, driver, observed } = await services.get(organizationId, id);
        if (driver !== 'embedded')
          throw new AppError('conflict', `${name} has the driver ${driver}; only embedded services have a log here`);
        if (observed.placement !== undefined && observed.placement !== getDirectoryId())
          throw new AppError('conflict', `Another node runs ${name} and has its log`);
        return success(request, await readLog(id, request.query.lines ?? DEFAULT_LOG_LINES));
      },
    );
  };
}
