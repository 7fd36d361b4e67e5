import { getActor } from '../audit/request-actor.ts';
import { createResultSerializer, managementResponse, sendSuccess, success } from '../http/envelopes.ts';
import { getIdentity, getPermittedServices } from '../http/guard.ts';
import { pageResponse, pageSuccess, readSortedPage } from '../http/paging.ts';
import type { Routes } from '../http/validation.ts';
import { mapMaybe } from '../kernel/maybe-promise.ts';
import { ADMINS, READERS } from '../kernel/roles.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import {
  ExtendedServiceRecord,
  ReplicaScalingBody,
  ScalingBody,
  ServiceListQuery,
  ServicePath,
  ServiceRecord,
  toExtendedRecord,
} from './schema.ts';
import type { Service } from './service.ts';
import type { Services } from './services.ts';

const tags = ['Services'];

/** RFC 9745: when the total memory fields became deprecated, as seconds since the epoch. */
const TOTALS_DEPRECATED_SINCE = Date.parse('2026-01-01T00:00:00Z') / 1000;

export function serviceRoutes({ services }: { services: Services }): Routes {
  return (app) => {
    const serializeRecord = createResultSerializer(ServiceRecord);
    const serializeExtendedRecord = createResultSerializer(ExtendedServiceRecord);
    const rendered = new WeakMap<Readonly<Service>, string>();

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
          response: pageResponse(ExtendedServiceRecord),
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
        return pageSuccess(request, page, items.map(toExtendedRecord), next);
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
          response: managementResponse(ExtendedServiceRecord),
        },
      },
      (request, reply) =>
        mapMaybe(
          services.get(getIdentity(request).organizationId, request.params.serviceId.toLowerCase()),
          (service) => {
            const record = rendered.get(service) ?? serializeExtendedRecord(reply, toExtendedRecord(service));
            rendered.set(service, record);
            sendSuccess(request, reply, record);
          },
        ),
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
        return sendSuccess(request, reply, serializeRecord(reply, toExtendedRecord(service)));
      },
    );

    app.patch(
      '/v1/organizations/:organizationId/services/:serviceId/replicaScaling',
      {
        config: { operation: 'instanceReplicaScalingUpdate', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update service scaling, memory per replica',
          description: 'The same rules as for total memory, in steps of 4 GB per replica.',
          params: ServicePath,
          body: ReplicaScalingBody,
          response: managementResponse(ExtendedServiceRecord),
        },
      },
      async (request) => {
        const { body } = request;
        const service = await services.rescale(
          getActor(request),
          getIdentity(request).organizationId,
          request.params.serviceId.toLowerCase(),
          {
            idleScaling: body.idleScaling,
            idleTimeoutMinutes: body.idleTimeoutMinutes,
            maxReplicaMemoryGb: body.maxReplicaMemoryGb,
            minReplicaMemoryGb: body.minReplicaMemoryGb,
            numReplicas: body.numReplicas,
          },
        );
        return success(request, toExtendedRecord(service));
      },
    );
  };
}
