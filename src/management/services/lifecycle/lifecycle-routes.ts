import { ADMINS } from '../../../kernel/access/roles.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { getIdentity } from '../../../platform/http/guard.ts';
import { keepResponse } from '../../../platform/http/requests/idempotency.ts';
import type { Routes } from '../../../platform/http/requests/validation.ts';
import {
  createResultSerializer,
  emptyManagementResponse,
  emptySuccess,
  managementResponse,
  sendSuccess,
  success,
} from '../../../platform/http/responses/envelopes.ts';
import { getActor, getCaller } from '../../audit/request-actor.ts';
import { assertFreshSignIn } from '../../hand-outs/hand-out.ts';
import { OrganizationPath } from '../../organizations/schema.ts';
import { ServicePath, ServiceRecord, toServiceRecord } from '../schema.ts';
import type { Service } from '../service.ts';
import type { ServiceLifecycle } from './lifecycle.ts';
import {
  CreateServiceBody,
  CreateServiceResult,
  ServicePasswordBody,
  ServicePasswordResult,
  ServiceStateBody,
  UpdateServiceBody,
} from './lifecycle-schema.ts';

const tags = ['Services'];
const SERVICES = '/v1/organizations/:organizationId/services';
const SERVICE = `${SERVICES}/:serviceId`;

const serializeCreated = createResultSerializer(CreateServiceResult);

interface Options {
  serviceLifecycle: ServiceLifecycle;
  clock: Clock;
}

/** Creates, changes, starts, stops and deletes services. */
/** For responses with a password. */
const NO_STORE = { 'cache-control': 'no-store' };

export function serviceLifecycleRoutes({ serviceLifecycle, clock }: Options): Routes {
  return (app) => {
    app.post(
      SERVICES,
      {
        config: { operation: 'instanceCreate', roles: ADMINS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create service',
          description:
            'Returns the service and, once, the password of its user default. The service is provisioning, then running. 409 if the organization has reached its limit of services. With backupId, it starts with a copy of the data of another service, which needs backupGet and sqlRead on that service (403).',
          params: OrganizationPath,
          body: CreateServiceBody,
          response: managementResponse(CreateServiceResult),
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const toRecord = (service: Readonly<Service>) => ({ service: toServiceRecord(service, clock) });
        const { service, password } = await serviceLifecycle.create(
          getActor(request),
          getCaller(request),
          organizationId,
          request.body,
          keepResponse(request, (created) => ({
            result: serializeCreated(reply, toRecord(created)),
            headers: NO_STORE,
          })),
        );
        reply.headers(NO_STORE);
        return sendSuccess(request, reply, serializeCreated(reply, { ...toRecord(service), password }));
      },
    );

    app.patch(
      SERVICE,
      {
        config: { operation: 'instanceUpdate', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update service',
          description: 'Changes the name, the IP access list and the tags. Omitted fields keep their value.',
          params: ServicePath,
          body: UpdateServiceBody,
          response: managementResponse(ServiceRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const { name, ipAccessList, tags } = request.body;
        const service = await serviceLifecycle.update(
          getActor(request),
          organizationId,
          request.params.serviceId.toLowerCase(),
          { name, ipAccessList, tags },
        );
        return success(request, toServiceRecord(service, clock));
      },
    );

    app.delete(
      SERVICE,
      {
        config: { operation: 'instanceDelete', roles: ADMINS },
        schema: {
          tags,
          summary: 'Delete service',
          description:
            'Cannot be undone. 409 unless the service is stopped, and for the first service of a warehouse that has others. Costs stay; backups stay for the retention of the backup configuration.',
          params: ServicePath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        assertFreshSignIn(getCaller(request), 'Deleting a service');
        const { organizationId } = getIdentity(request);
        await serviceLifecycle.remove(getActor(request), organizationId, request.params.serviceId.toLowerCase());
        return emptySuccess(request);
      },
    );

    app.patch(
      `${SERVICE}/state`,
      {
        config: { operation: 'instanceStateUpdate', roles: ADMINS },
        schema: {
          tags,
          summary: 'Start, stop or wake service',
          description:
            'Returns at once; the state of the record follows the command. A service that is in the commanded state stays as it is.',
          params: ServicePath,
          body: ServiceStateBody,
          response: managementResponse(ServiceRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const service = await serviceLifecycle.command(
          getActor(request),
          organizationId,
          request.params.serviceId.toLowerCase(),
          request.body.command,
          { allowEmpty: request.body.allowEmpty },
        );
        return success(request, toServiceRecord(service, clock));
      },
    );

    app.patch(
      `${SERVICE}/password`,
      {
        config: { operation: 'instancePasswordUpdate', roles: ADMINS },
        schema: {
          tags,
          summary: 'Set service password',
          description:
            'Of the user default. Without hashes, generates a password and returns it once. Only hashes are stored. Needs sqlRead and sqlWrite on the service too, which the password permits.',
          params: ServicePath,
          body: ServicePasswordBody,
          response: managementResponse(ServicePasswordResult),
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const password = await serviceLifecycle.setPassword(
          getActor(request),
          organizationId,
          request.params.serviceId.toLowerCase(),
          { passwordHash: request.body.newPasswordHash, passwordDoubleSha1Hash: request.body.newDoubleSha1Hash },
        );
        reply.headers(NO_STORE);
        return success(request, password === undefined ? {} : { password });
      },
    );
  };
}
