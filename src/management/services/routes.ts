import { ADMINS, READERS } from '../../kernel/access/roles.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { getIdentity, getPermittedServices } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import {
  createResultSerializer,
  managementResponse,
  sendSuccess,
  success,
} from '../../platform/http/responses/envelopes.ts';
import { pageResponse, pageSuccess, readSortedPage } from '../../platform/http/responses/paging.ts';
import { getActor } from '../audit/request-actor.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import {
  ReplicaScalingBody,
  ScalingBody,
  ServiceListQuery,
  ServicePath,
  ServiceRecord,
  toReplicaScalingChange,
  toServiceRecord,
} from './schema.ts';
import type { Service } from './service.ts';
import type { Services } from './services.ts';

const tags = ['Services'];

/** RFC 9745: when the total memory fields became deprecated, as seconds since the epoch. */
const TOTALS_DEPRECATED_SINCE = Date.parse('2026-01-01T00:00:00Z') / 1000;

export function serviceRoutes({ services, clock }: { services: Services; clock: Clock }): Routes {
  return (app) => {
    const serializeRecord = createResultSerializer(ServiceRecord);
    const render = (service: Readonly<Service>, reply: object): string =>
      serializeRecord(reply, toServiceRecord(service, clock));

    app.get(
      '/v1/organizations/:organizationId/services',
      {
        config: { operation: 'instanceGetList', roles: READERS },
        schema: {
          tags,
          summary: 'List services',
          description: 'Oldest first, in pages of at most 1,000.',
          params: OrganizationPath,
          querystring: ServiceListQuery,
          response: pageResponse(ServiceRecord),
        },
      },
      async (request) => {
        const { id, filter, ...sorted } = request.query;
        const page = readSortedPage(request, sorted);
        const ids = id && new Set(id.map((one) => one.toLowerCase()));
        const { items, next } = await services.listPage(
          getIdentity(request).organizationId,
          { ...page, ids, permitted: getPermittedServices(request) },
          filter,
        );
        const records = items.map((service) => toServiceRecord(service, clock));
        return pageSuccess(request, page, records, next);
      },
    );

    app.get(
      '/v1/organizations/:organizationId/services/:serviceId',
      {
        config: { operation: 'instanceGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get service',
          params: ServicePath,
          response: managementResponse(ServiceRecord),
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const service = await services.get(organizationId, request.params.serviceId.toLowerCase());
        return sendSuccess(request, reply, render(service, reply));
      },
    );

    app.patch(
      '/v1/organizations/:organizationId/services/:serviceId/scaling',
      {
        config: { operation: 'instanceScalingUpdate', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update service scaling',
          description:
            'Omitted fields keep their value. All fields are validated before any is stored. Total memory is always three times the memory of one replica.',
          params: ServicePath,
          body: ScalingBody,
          response: managementResponse(ServiceRecord),
        },
      },
      async (request, reply) => {
        const { body } = request;
        const service = await services.rescale(
          getActor(request),
          getIdentity(request).organizationId,
          request.params.serviceId.toLowerCase(),
          {
            idleScaling: body.idleScaling,
            idleTimeoutMinutes: body.idleTimeoutMinutes,
            maxTotalMemoryGb: body.maxTotalMemoryGb,
            minTotalMemoryGb: body.minTotalMemoryGb,
            numReplicas: body.numReplicas,
          },
        );
        if (body.maxTotalMemoryGb !== undefined || body.minTotalMemoryGb !== undefined) {
          reply.header('deprecation', `@${TOTALS_DEPRECATED_SINCE}`);
          reply.header('link', '</docs>; rel="deprecation"; type="text/html"');
        }
        return sendSuccess(request, reply, render(service, reply));
      },
    );

    app.patch(
      '/v1/organizations/:organizationId/services/:serviceId/replicaScaling',
      {
        config: { operation: 'instanceReplicaScalingUpdate', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update service scaling, memory per replica',
          description:
            'The same rules as for total memory, in steps of 4 GB per replica. autoscalingMode horizontal scales the number of replicas between minReplicas and maxReplicas; the size of a replica is then fixed.',
          params: ServicePath,
          body: ReplicaScalingBody,
          response: managementResponse(ServiceRecord),
        },
      },
      async (request) => {
        const service = await services.rescale(
          getActor(request),
          getIdentity(request).organizationId,
          request.params.serviceId.toLowerCase(),
          toReplicaScalingChange(request.body),
        );
        return success(request, toServiceRecord(service, clock));
      },
    );
  };
}
