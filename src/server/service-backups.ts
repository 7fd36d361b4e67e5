import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../kernel/time/clock.ts';
import { DRIVERS, type DriverName } from '../management/services/driver.ts';
import { readDirectoryName } from '../platform/engine/directory-id.ts';
import type { LeaseHandle } from '../platform/leases/lease.ts';
import type { State } from '../platform/state/state.ts';
import { isBackedUp } from '../running/backups/backup.ts';
import { createEmbeddedMaker } from '../running/backups/make-backup.ts';
import { createSqlMaker } from '../running/backups/make-sql-backup.ts';
import type { BackupMaker } from '../running/backups/maker.ts';
import { createRestores } from '../running/backups/restore.ts';
import { createSchedule } from '../running/backups/schedule.ts';
import { createBackupDirectory } from '../running/backups/storage/directory.ts';
import { createS3Storage } from '../running/backups/storage/s3.ts';
import { combineStorages, type Storage } from '../running/backups/storage/storage.ts';
import { createVerify } from '../running/backups/verification.ts';
import { startBackupWork } from '../running/backups/work.ts';
import { createBackupWriter } from '../running/backups/writer.ts';
import type { Reconciler } from '../running/reconciliation/reconciler.ts';
import type { Domains } from './domains.ts';
import { getServicesDirectory } from './drivers.ts';
import { hasSqlStorage } from './settings/backup-settings.ts';
import type { Config } from './settings/config.ts';

type StorageConfig = Pick<
  Config,
  | 'dataDirectory'
  | 'backupDirectory'
  | 'backupStorage'
  | 'backupS3Endpoint'
  | 'backupS3Region'
  | 'backupS3CredentialsFile'
  | 'backupS3SqlCredentialsFile'
  | 'backupS3TimeoutMs'
>;

interface Options {
  config: StorageConfig;
  /** Of this node: the storage compares it with its own. */
  clock: Clock;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  state: State;
  domains: Pick<Domains, 'audit' | 'drivenServices' | 'organizations'>;
}

export const getBackupDirectory = (config: Pick<Config, 'dataDirectory' | 'backupDirectory'>): string =>
  config.backupDirectory ?? join(config.dataDirectory, 'backups');

/** Where the backups of services are. Those in the directory can be restored also if new ones are stored elsewhere. */
export function createStorage(config: StorageConfig, clock: Clock): Storage {
  const directory = createBackupDirectory(getBackupDirectory(config));
  if (config.backupStorage === undefined) return combineStorages(directory);
  const address = {
    ...config.backupStorage,
    endpoint: config.backupS3Endpoint,
    region: config.backupS3Region,
    credentialsFile: config.backupS3CredentialsFile,
    sqlCredentialsFile: config.backupS3SqlCredentialsFile,
    timeoutMs: config.backupS3TimeoutMs,
  };
  return combineStorages(createS3Storage(address, clock), directory);
}

/** The backups of the embedded services of this node, and of the services elsewhere if this node runs them. */
export function createServiceBackups({ config, clock, log, state, domains }: Options) {
  const { audit, drivenServices: services, organizations } = domains;
  const storage = createStorage(config, clock);
  const restores = createRestores({ state, storage });
  const temporaryDirectory = join(config.dataDirectory, 'verifications');

  return {
    restore: restores.run,

    createWork({ leases, isResponsible, openBackup }: Pick<Reconciler, 'leases' | 'isResponsible' | 'openBackup'>) {
      // Left by a process that was killed.
      rmSync(temporaryDirectory, { recursive: true, force: true });
      const stopping = new AbortController();
      const verify = createVerify({ storage, restores, temporaryDirectory, log });
      const canUseSql = hasSqlStorage(config);
      const create = (maker: BackupMaker, lease: LeaseHandle, isIncluded: (driver: DriverName) => boolean) =>
        lease.run((session) => {
          const writer = createBackupWriter({ state: session.state, organizations });
          const common = { writer, log, services, isResponsible, maker };
          const schedule = createSchedule({
            ...common,
            state: session.state,
            organizations,
            audit,
            isIncluded,
            isBackedUp: (service) => isBackedUp(service, canUseSql),
            isInUse: restores.isInUse,
          });
          return startBackupWork({ ...common, session, schedule, verify });
        });
      const embedded = createEmbeddedMaker({
        clock: state.clock,
        directoryId: readDirectoryName(config.dataDirectory),
        servicesDirectory: getServicesDirectory(config),
        storage,
        openBackup,
      });
      const works = [
        create(embedded, leases.local, (driver) => DRIVERS[driver].isLocal === true),
        create(
          createSqlMaker({ clock: state.clock, storage, openBackup }),
          leases.shared,
          (driver) => canUseSql && DRIVERS[driver].isBackedUpBySql === true,
        ),
      ];

      /** Wrong settings should be known before the first backup fails. */
      async function checkStorage(): Promise<void> {
        const reason = await storage.findObstacle(stopping.signal).catch(() => undefined);
        if (reason !== undefined && !stopping.signal.aborted)
          log.warn({ reason }, 'the storage for backups of services cannot be used');
      }

      return {
        start(): void {
          void checkStorage();
        },
        /** The size of all backups of a service. */
        countBytes: (serviceId: string): number =>
          works.reduce((sum, work) => sum + (work.current()?.countBytes(serviceId) ?? 0), 0),
        /** Starts what is due now, and resolves when nothing is left to do. For tests. */
        async settleAll(): Promise<void> {
          for (const work of works) await work.current()?.settleAll();
        },
        async close(): Promise<void> {
          stopping.abort();
          await Promise.all(works.map((work) => work.close()));
        },
      };
    },
  };
}
