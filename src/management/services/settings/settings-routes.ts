import { ADMINS, READERS } from '../../../kernel/access/roles.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { getIdentity } from '../../../platform/http/guard.ts';
import type { Routes } from '../../../platform/http/requests/validation.ts';
import {
  emptyManagementResponse,
  emptySuccess,
  managementResponse,
  success,
} from '../../../platform/http/responses/envelopes.ts';
import { getActor, getCaller } from '../../audit/request-actor.ts';
import { ScalingScheduleBody, ScalingScheduleRecord, toScheduleRecord } from '../scaling/schedule-schema.ts';
import { ServicePath } from '../schema.ts';
import type { Service } from '../service.ts';
import { DEFAULT_BACKUP } from '../service-settings.ts';
import type { Services } from '../services.ts';
import { getQueryEndpoint, type ServiceSettingsOperations } from './settings.ts';
import {
  BackupConfigurationBody,
  BackupConfigurationRecord,
  PrivateEndpointConfigRecord,
  QueryEndpointBody,
  QueryEndpointRecord,
} from './settings-schema.ts';

const tags = ['Services'];
const SERVICE = '/v1/organizations/:organizationId/services/:serviceId';

interface Options {
  services: Services;
  serviceSettings: ServiceSettingsOperations;
  clock: Clock;
}

/** Settings of a service that are not in its record. */
export function serviceSettingsRoutes({ services, serviceSettings, clock }: Options): Routes {
  return (app) => {
    const read = async (request: Parameters<typeof getIdentity>[0] & { params: { serviceId: string } }) =>
      services.get(getIdentity(request).organizationId, request.params.serviceId.toLowerCase());
    const toBackupRecord = ({ settings }: Readonly<Service>) => settings?.backupConfiguration ?? DEFAULT_BACKUP;
    const toSchedule = (service: Readonly<Service>) => toScheduleRecord(service, clock.now());

    app.get(
      `${SERVICE}/privateEndpointConfig`,
      {
        config: { operation: 'instancePrivateEndpointConfigGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get private endpoint configuration',
          description: 'Empty: services have no private endpoints.',
          params: ServicePath,
          response: managementResponse(PrivateEndpointConfigRecord),
        },
      },
      async (request) => {
        await read(request);
        return success(request, {});
      },
    );

    app.get(
      `${SERVICE}/backupConfiguration`,
      {
        config: { operation: 'backupConfigurationGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get backup configuration',
          params: ServicePath,
          response: managementResponse(BackupConfigurationRecord),
        },
      },
      async (request) => success(request, toBackupRecord(await read(request))),
    );

    app.patch(
      `${SERVICE}/backupConfiguration`,
      {
        config: { operation: 'backupConfigurationUpdate', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update backup configuration',
          description:
            'Omitted fields keep their value. With a start time, backups are daily; a period other than 24 hours removes the start time. Embedded services are backed up, and services on Kubernetes or behind a webhook if the server has S3-compatible storage for backups and a key for their ClickHouse.',
          params: ServicePath,
          body: BackupConfigurationBody,
          response: managementResponse(BackupConfigurationRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const id = request.params.serviceId.toLowerCase();
        return success(
          request,
          toBackupRecord(await serviceSettings.updateBackup(getActor(request), organizationId, id, request.body)),
        );
      },
    );

    app.get(
      `${SERVICE}/serviceQueryEndpoint`,
      {
        config: { operation: 'instanceQueryEndpointGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get query endpoint',
          description: '404 if the service has none.',
          params: ServicePath,
          response: managementResponse(QueryEndpointRecord),
        },
      },
      async (request) => success(request, getQueryEndpoint(await read(request))),
    );

    app.post(
      `${SERVICE}/serviceQueryEndpoint`,
      {
        config: { operation: 'instanceQueryEndpointUpsert', roles: ADMINS },
        schema: {
          tags,
          summary: 'Create or replace query endpoint',
          description:
            'Sets which keys may run queries on the service over HTTP. Only services with the driver embedded run them. Needs what the roles permit: sqlRead on the service, and sqlWrite for sql_console_admin.',
          params: ServicePath,
          body: QueryEndpointBody,
          response: managementResponse(QueryEndpointRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const { roles, openApiKeys, allowedOrigins = '' } = request.body;
        const service = await serviceSettings.putQueryEndpoint(
          getActor(request),
          organizationId,
          request.params.serviceId.toLowerCase(),
          { roles, openApiKeys: openApiKeys.map((id) => id.toLowerCase()), allowedOrigins },
          getCaller(request),
        );
        return success(request, getQueryEndpoint(service));
      },
    );

    app.delete(
      `${SERVICE}/serviceQueryEndpoint`,
      {
        config: { operation: 'instanceQueryEndpointDelete', roles: ADMINS },
        schema: { tags, summary: 'Delete query endpoint', params: ServicePath, response: emptyManagementResponse },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        await serviceSettings.removeQueryEndpoint(
          getActor(request),
          organizationId,
          request.params.serviceId.toLowerCase(),
        );
        return emptySuccess(request);
      },
    );

    app.get(
      `${SERVICE}/scalingSchedule`,
      {
        config: { operation: 'scalingScheduleGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get scaling schedule',
          description: 'Without a schedule, the list of entries is empty.',
          params: ServicePath,
          response: managementResponse(ScalingScheduleRecord),
        },
      },
      async (request) => success(request, toSchedule(await read(request))),
    );

    app.post(
      `${SERVICE}/scalingSchedule`,
      {
        config: { operation: 'scalingScheduleUpsert', roles: ADMINS },
        schema: {
          tags,
          summary: 'Create or replace scaling schedule',
          description:
            'Replaces all entries. In the window of an entry, its settings replace those of the service; currentScaling shows the settings in effect.',
          params: ServicePath,
          body: ScalingScheduleBody,
          response: managementResponse(ScalingScheduleRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const service = await serviceSettings.putSchedule(
          getActor(request),
          organizationId,
          request.params.serviceId.toLowerCase(),
          request.body.entries,
        );
        return success(request, toSchedule(service));
      },
    );

    app.delete(
      `${SERVICE}/scalingSchedule`,
      {
        config: { operation: 'scalingScheduleDelete', roles: ADMINS },
        schema: {
          tags,
          summary: 'Delete scaling schedule',
          params: ServicePath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        await serviceSettings.removeSchedule(getActor(request), organizationId, request.params.serviceId.toLowerCase());
        return emptySuccess(request);
      },
    );
  };
}
