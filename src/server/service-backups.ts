import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../kernel/time/clock.ts';
import { readDirectoryName } from '../platform/engine/directory-id.ts';
import type { State } from '../platform/state/state.ts';
import { createBackupDirectory } from '../running/backups/directory.ts';
import { createRestores } from '../running/backups/restore.ts';
import { createS3Storage } from '../running/backups/s3.ts';
import { createSchedule } from '../running/backups/schedule.ts';
import { combineStorages, type Storage } from '../running/backups/storage.ts';
import { createVerify } from '../running/backups/verification.ts';
import { createBackupWork } from '../running/backups/work.ts';
import { createBackupWriter } from '../running/backups/writer.ts';
import type { Reconciler } from '../running/reconciliation/reconciler.ts';
import type { Domains } from './domains.ts';
import { getServicesDirectory } from './drivers.ts';
import type { Config } from './settings/config.ts';

type StorageConfig = Pick<
  Config,
  | 'dataDirectory'
  | 'backupDirectory'
  | 'backupStorage'
  | 'backupS3Endpoint'
  | 'backupS3Region'
  | 'backupS3CredentialsFile'
  | 'backupS3TimeoutMs'
>;

interface Options {
  config: StorageConfig;
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
  const { backupStorage, backupS3Endpoint, backupS3Region, backupS3CredentialsFile, backupS3TimeoutMs } = config;
  if (backupStorage === undefined) return combineStorages(directory);
  const address = {
    ...backupStorage,
    endpoint: backupS3Endpoint,
    region: backupS3Region,
    credentialsFile: backupS3CredentialsFile,
    timeoutMs: backupS3TimeoutMs,
  };
  return combineStorages(createS3Storage(address, clock), directory);
}

/** The backups of the embedded services of this node. */
export function createServiceBackups({ config, clock, log, state, domains }: Options) {
  const { audit, drivenServices: services, organizations } = domains;
  const storage = createStorage(config, clock);
  const restores = createRestores({ state, storage });
  const temporaryDirectory = join(config.dataDirectory, 'verifications');

  return {
    restore: restores.run,

    createWork({ isResponsible, openBackup }: Pick<Reconciler, 'isResponsible' | 'openBackup'>) {
      // Left by a process that was killed.
      rmSync(temporaryDirectory, { recursive: true, force: true });
      const writer = createBackupWriter({ state, organizations });
      const place = {
        directoryId: readDirectoryName(config.dataDirectory),
        servicesDirectory: getServicesDirectory(config),
      };
      const schedule = createSchedule({
        ...place,
        state,
        writer,
        organizations,
        clock,
        audit,
        log,
        services,
        isResponsible,
        isInUse: restores.isInUse,
      });
      const verify = createVerify({ storage, restores, temporaryDirectory, log });
      return createBackupWork({ ...place, state, writer, clock, log, storage, schedule, verify, openBackup });
    },
  };
}
