import type { Logger } from 'pino';
import { createTimeOrderedIds } from '../../kernel/ids.ts';
import { HOUR_MS } from '../../kernel/time/clock.ts';
import type { Actor } from '../../management/audit/activity.ts';
import type { Audit } from '../../management/audit/audit.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import type { DrivenServices } from '../../management/services/driven-services.ts';
import type { DriverName } from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';
import type { LeasedState } from '../../platform/leases/session.ts';
import type { Db } from '../../platform/state/tables.ts';
import { type Backup, findNewestDone, getBackupConfiguration, isDue, listExpired } from './backup.ts';
import type { BackupMaker } from './maker.ts';
import { insertBackup, listBackedUpServices, listBackups, updateBackup } from './store.ts';
import type { BackupWriter } from './writer.ts';

interface Options {
  state: LeasedState;
  writer: BackupWriter;
  organizations: Organizations;
  audit: Audit;
  log: Pick<Logger, 'warn'>;
  services: DrivenServices;
  maker: BackupMaker;
  /** Whether this process runs the service. */
  isResponsible(serviceId: string): boolean;
  /** Whether the maker makes the backups of services with this driver. */
  isIncluded(driver: DriverName): boolean;
  isBackedUp(service: Readonly<Service>): boolean;
  /** Whether a backup of the chain is being restored by this process, also for a verification. */
  isInUse(chainId: string): boolean;
}

const BACKUPS: Actor = { type: 'system', id: 'backups', details: 'Backups' };

export type Schedule = ReturnType<typeof createSchedule>;

/** A backup that is to be made. */
export const toNewBackup = (id: string, service: Readonly<Service>, directoryId: string, now: number): Backup => ({
  organizationId: service.organizationId,
  id,
  serviceId: service.id,
  chainId: id,
  directoryId,
  status: 'in_progress',
  pending: 'backup',
  startedAt: now,
  serviceName: service.name,
  retentionHours: getBackupConfiguration(service).backupRetentionPeriodInHours,
});

/** Decides which backups are due, and which have expired. */
export function createSchedule(options: Options) {
  const { state, writer, organizations, audit, log, services, maker } = options;
  const { clock } = state;
  const { isResponsible, isIncluded, isBackedUp, isInUse } = options;
  const { directoryId } = maker;
  const nextId = createTimeOrderedIds();

  async function requestDue(service: Readonly<Service>): Promise<void> {
    const { organizationId, id, desiredState } = service;
    if (!isBackedUp(service) || service.settledGeneration === 0) return;
    const backups = await listBackups(state.db, organizationId, id);
    const now = clock.now();
    if (!isDue(service, backups, now)) return;
    const newest = findNewestDone(backups);
    if (newest && desiredState === 'idle' && (await maker.isUnchanged(newest))) {
      await writer.change(newest, (stored) => ({ ...stored, unchangedAt: now }));
      return;
    }
    await state.write((tx) => insertBackup(tx, toNewBackup(nextId(now), service, directoryId, now)));
  }

  /** Deletes whole chains. The backups of a deleted service are kept for the retention of its newest one. */
  async function expire(organizationId: string, serviceId: string): Promise<void> {
    const now = clock.now();
    const find = async (db: Db) => {
      const service = await services.find(organizationId, serviceId);
      const backups = await listBackups(db, organizationId, serviceId);
      const orphaned = service ? [] : backups.filter((backup) => backup.expireAt === undefined);
      const ended = listExpired(backups, service, now);
      const restoring = ended.length > 0 ? await services.listRestoring(organizationId, db) : [];
      const used = new Set(backups.filter(({ id }) => restoring.includes(id)).map(({ chainId }) => chainId));
      const expired = ended.filter(({ chainId }) => !used.has(chainId) && !isInUse(chainId));
      return { orphaned, expired, retentionHours: backups[0]?.retentionHours ?? 0 };
    };
    const { orphaned, expired } = await find(state.db);
    if (orphaned.length + expired.length === 0) return;
    await state.write(async (tx) => {
      await organizations.lock(tx, organizationId);
      const found = await find(tx);
      const expireAt = now + found.retentionHours * HOUR_MS;
      for (const backup of found.orphaned) await updateBackup(tx, { ...backup, expireAt });
      for (const backup of found.expired) {
        await updateBackup(tx, { ...backup, pending: 'remove' });
        const { id, serviceName, startedAt, status } = backup;
        await audit.record(tx, BACKUPS, {
          organizationId,
          type: 'backup_delete',
          resource: { type: 'backup', id },
          serviceId,
          before: { serviceName, startedAt: new Date(startedAt).toISOString(), status },
        });
      }
    });
  }

  async function attempt(serviceId: string, work: () => Promise<void>): Promise<void> {
    await work().catch((error: Error) =>
      log.warn({ serviceId, reason: error.message }, 'failed to schedule the backups of a service'),
    );
  }

  return {
    async run(signal: AbortSignal): Promise<void> {
      for (const { organizationId, id, driver } of await services.list()) {
        if (!isIncluded(driver) || signal.aborted || !isResponsible(id)) continue;
        await attempt(id, async () => {
          const service = await services.find(organizationId, id);
          if (service) await requestDue(service);
        });
      }
      for (const { organizationId, serviceId } of await listBackedUpServices(state.db, directoryId))
        if (!signal.aborted) await attempt(serviceId, () => expire(organizationId, serviceId));
    },
  };
}
