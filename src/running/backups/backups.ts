import { AppError } from '../../kernel/errors.ts';
import { createTimeOrderedIds } from '../../kernel/ids.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { Actor } from '../../management/audit/activity.ts';
import type { Audit } from '../../management/audit/audit.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import { STOPPED_FOR_BACKUP } from '../../management/services/driven-services.ts';
import { DRIVERS } from '../../management/services/driver.ts';
import { type FindRestorable, NO_BACKUP } from '../../management/services/lifecycle/new-service.ts';
import type { Service } from '../../management/services/service.ts';
import type { Services } from '../../management/services/services.ts';
import type { InTransaction, State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import { type Backup, ELSEWHERE, SQL_SETTINGS } from './backup.ts';
import { toNewBackup } from './schedule.ts';
import { findBackup, insertBackup, listBackups, updateBackup } from './store.ts';

export type Backups = ReturnType<typeof createBackups>;

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  services: Services;
  /** ClickHouse elsewhere can write backups to S3-compatible storage, with a key of its own. */
  hasSqlStorage: boolean;
}

/** Lists and requests backups. The node that runs the service makes them. */
export function createBackups({ state, clock, audit, organizations, services, hasSqlStorage }: Options) {
  const nextId = createTimeOrderedIds();

  async function getVisible(db: Db, organizationId: string, serviceId: string, id: string): Promise<Backup> {
    const backup = await findBackup(db, organizationId, id);
    if (!backup || backup.serviceId !== serviceId || !isVisible(backup)) throw missingBackup(id);
    return backup;
  }

  return {
    /** Newest first. Also of a service that was deleted, as long as it has backups. */
    async list(organizationId: string, serviceId: string): Promise<Backup[]> {
      const backups = (await listBackups(state.db, organizationId, serviceId)).filter(isVisible);
      if (backups.length === 0) await services.get(organizationId, serviceId);
      return backups;
    },

    /** Throws `not_found` also if the organization has no such service. */
    async get(organizationId: string, serviceId: string, id: string): Promise<Backup> {
      return getVisible(state.db, organizationId, serviceId, id);
    },

    /** Requests a backup now. */
    create(
      actor: Actor,
      organizationId: string,
      serviceId: string,
      inTransaction?: InTransaction<Backup>,
    ): Promise<Backup> {
      const now = clock.now();
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const service = await services.get(organizationId, serviceId, tx);
        const backup = toNewBackup(nextId(now), service, getPlacement(service, hasSqlStorage), now);
        const running = (await listBackups(tx, organizationId, serviceId)).find(({ pending }) => pending === 'backup');
        if (running) throw new AppError('conflict', `The backup ${running.id} of the service is in progress`);
        await insertBackup(tx, backup);
        await audit.record(tx, actor, {
          organizationId,
          type: 'backup_create',
          resource: { type: 'backup', id: backup.id },
          serviceId,
          after: { serviceName: service.name },
        });
        await inTransaction?.(tx, backup);
        return backup;
      });
    },

    /** Requests a restore into a temporary service, whose tables are compared with the backup. */
    verify(actor: Actor, organizationId: string, serviceId: string, id: string): Promise<Backup> {
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const backup = await getVisible(tx, organizationId, serviceId, id);
        if (backup.status !== 'done') throw new AppError('conflict', explainStatus(backup));
        if (backup.pending === 'verify') return backup;
        const requested: Backup = { ...backup, pending: 'verify' };
        await updateBackup(tx, requested);
        await audit.record(tx, actor, {
          organizationId,
          type: 'backup_verify',
          resource: { type: 'backup', id },
          serviceId,
          after: { serviceName: backup.serviceName },
        });
        return requested;
      });
    },
  };
}

/** For a service that is created from the backup: the node that has its files, if only one does, or why it cannot be restored. */
export async function findRestorable(db: Db, organizationId: string, id: string): ReturnType<FindRestorable> {
  const backup = await findBackup(db, organizationId, id);
  if (!backup || !isVisible(backup)) return { obstacle: NO_BACKUP };
  const { serviceId } = backup;
  if (backup.status !== 'done') return { obstacle: explainStatus(backup), ofServiceId: serviceId };
  return { serviceId, placement: backup.directoryId === ELSEWHERE ? undefined : backup.directoryId };
}

const isVisible = ({ pending }: Backup): boolean => pending !== 'remove';

const explainStatus = ({ status }: Backup): string =>
  status === 'error' ? 'The backup has failed' : 'The backup is not done yet';

/** The data directory of the node that has the data of the service and makes the backup, or `ELSEWHERE`. */
function getPlacement({ driver, desiredState, observed }: Readonly<Service>, hasSqlStorage: boolean): string {
  const { isLocal, isBackedUpBySql } = DRIVERS[driver];
  const reject = (reason: string) => new AppError('conflict', reason);
  if (!isLocal && !isBackedUpBySql) throw reject(`A service with the driver ${driver} has no data to back up`);
  if (!isLocal && !hasSqlStorage)
    throw reject(`A service with the driver ${driver} can only be backed up to S3-compatible storage; ${SQL_SETTINGS}`);
  if (desiredState === 'stopped') throw reject(STOPPED_FOR_BACKUP);
  if (!isLocal && observed.endpoint === undefined)
    throw reject(
      'The service has no endpoint, so it cannot be backed up with SQL; set kubernetes.url, or let the webhook report an endpoint',
    );
  if (!isLocal) return ELSEWHERE;
  if (observed.placement === undefined) throw reject('The service has not run yet, so it has no data to back up');
  return observed.placement;
}

const missingBackup = (id: string): AppError => new AppError('not_found', `backup ${id} does not exist`);
