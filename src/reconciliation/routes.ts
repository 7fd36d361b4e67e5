import { managementResponse, success } from '../http/envelopes.ts';
import { getIdentity } from '../http/guard.ts';
import type { Routes } from '../http/validation.ts';
import type { Clock } from '../kernel/clock.ts';
import type { MaybePromise } from '../kernel/maybe-promise.ts';
import { READERS } from '../kernel/roles.ts';
import { ServicePath } from '../services/schema.ts';
import type { Services } from '../services/services.ts';
import type { Reconciler } from './reconciler.ts';
import { IdleStatus, toIdleStatus } from './schema.ts';

export interface IdleRouteOptions {
  services: Services;
  findIdleStatus(serviceId: string): MaybePromise<ReturnType<Reconciler['findIdleStatus']>>;
  clock: Clock;
}

export function idleRoutes({ services, findIdleStatus, clock }: IdleRouteOptions): Routes {
  return (app) => {
    app.get(
      '/v1/organizations/:organizationId/services/:serviceId/idle',
      {
        config: { operation: 'instanceIdleGet', roles: READERS },
        schema: {
          tags: ['Services'],
          summary: 'Get idle status of service',
          description: 'Why the service is not idle, when it idles at the earliest, and what woke it last.',
          params: ServicePath,
          response: managementResponse(IdleStatus),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const id = request.params.serviceId.toLowerCase();
        const service = await services.get(organizationId, id);
        return success(request, toIdleStatus(service, await findIdleStatus(id), clock.now()));
      },
    );
  };
}
