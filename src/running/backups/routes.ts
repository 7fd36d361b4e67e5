import Type from 'typebox';
import { ADMINS, READERS } from '../../kernel/access/roles.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { ServicePath } from '../../management/services/schema.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { keepResponse } from '../../platform/http/requests/idempotency.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../platform/http/responses/envelopes.ts';
import type { Backup } from './backup.ts';
import type { Backups } from './backups.ts';
import { BackupPath, BackupRecord, toBackupRecord } from './schema.ts';

const tags = ['Services'];
const BACKUPS = '/v1/organizations/:organizationId/services/:serviceId/backups';

export function backupRoutes({ backups }: { backups: Backups }): Routes {
  return (app) => {
    app.get(
      BACKUPS,
      {
        config: { operation: 'backupGetList', roles: READERS },
        schema: {
          tags,
          summary: 'List backups of service',
          description:
            'Newest first. A deleted service keeps its backups for the retention of its backup configuration; until then they are listed here and can be restored.',
          params: ServicePath,
          response: managementResponse(Type.Array(BackupRecord)),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const list = await backups.list(organizationId, request.params.serviceId.toLowerCase());
        return success(request, list.map(toBackupRecord));
      },
    );

    app.get(
      `${BACKUPS}/:backupId`,
      {
        config: { operation: 'backupGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get backup',
          params: BackupPath,
          response: managementResponse(BackupRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const { serviceId, backupId } = request.params;
        const backup = await backups.get(organizationId, serviceId.toLowerCase(), backupId.toLowerCase());
        return success(request, toBackupRecord(backup));
      },
    );

    app.post(
      BACKUPS,
      {
        config: { operation: 'backupCreate', roles: ADMINS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Back up service now',
          description:
            'Returns at once with a backup in progress. An idle service is woken. 409 if a backup is in progress, the service is stopped, or it cannot be backed up: it is simulated, or it runs elsewhere and the server has no S3-compatible storage for backups or no key for its ClickHouse, or SQL cannot reach it.',
          params: ServicePath,
          response: managementResponse(BackupRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const backup = await backups.create(
          getActor(request),
          organizationId,
          request.params.serviceId.toLowerCase(),
          keepResponse(request, (created: Backup) => ({ result: JSON.stringify(toBackupRecord(created)) })),
        );
        return success(request, toBackupRecord(backup));
      },
    );

    app.post(
      `${BACKUPS}/:backupId/verification`,
      {
        config: { operation: 'backupVerify', roles: ADMINS },
        schema: {
          tags,
          summary: 'Verify backup',
          description:
            'Returns at once with a verification in progress: the backup is restored into a temporary service, and the row counts and checksums of its tables are compared. 409 unless the backup is done.',
          params: BackupPath,
          response: managementResponse(BackupRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const { serviceId, backupId } = request.params;
        const ids = [serviceId.toLowerCase(), backupId.toLowerCase()] as const;
        return success(request, toBackupRecord(await backups.verify(getActor(request), organizationId, ...ids)));
      },
    );
  };
}
