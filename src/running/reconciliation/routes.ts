import { READERS } from '../../kernel/access/roles.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { ServicePath } from '../../management/services/schema.ts';
import type { Services } from '../../management/services/services.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../platform/http/responses/envelopes.ts';
import type { Reconciler } from './reconciler.ts';
import { IdleStatus, toIdleStatus } from './schema.ts';

export interface IdleRouteOptions {
  services: Services;
  findIdleStatus(
    serviceId: string,
  ): ReturnType<Reconciler['findIdleStatus']> | Promise<ReturnType<Reconciler['findIdleStatus']>>;
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
