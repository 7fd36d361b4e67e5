import { AppError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { BackupAccess } from '../../management/services/driver.ts';
import { type Backup, ELSEWHERE, findBase, SQL_SETTINGS } from './backup.ts';
import type { BackupMaker } from './maker.ts';
import { toPrivate } from './private-upstream.ts';
import { runBackupTo } from './statements.ts';
import type { SqlStorage, Storage } from './storage/storage.ts';

interface Options {
  clock: Clock;
  storage: Storage;
  /** Wakes the service if it is idle, and waits until it runs. */
  openBackup(serviceId: string, signal: AbortSignal): Promise<BackupAccess>;
}

/** Each one only waits for the ClickHouse of a service: one that hangs must not delay the others. */
const CONCURRENCY = 16;

/** Of services that run elsewhere: ClickHouse writes to S3-compatible storage, when it is asked to by SQL. */
export function createSqlMaker({ clock, storage, openBackup }: Options): BackupMaker {
  function getSql(): SqlStorage {
    if (storage.sql) return storage.sql;
    throw new AppError('conflict', `The service can only be backed up to S3-compatible storage; ${SQL_SETTINGS}`);
  }

  return {
    directoryId: ELSEWHERE,
    location: storage.location,
    concurrency: CONCURRENCY,

    async write(backup, earlier, signal) {
      const { formatTarget } = getSql();
      // ClickHouse tries for hours to reach a storage that does not respond.
      const obstacle = await storage.findObstacle(signal);
      if (obstacle !== undefined) throw new AppError('unavailable', obstacle);
      const base = findBase(earlier, backup, clock.now());
      const started: Backup = { ...backup, ...(base && { baseId: base.id, chainId: base.chainId }) };
      // What cannot work does not wake the service.
      const target = await formatTarget(started);
      const baseTarget = base && (await formatTarget(base));
      await storage.remove(started, signal);
      const access = await openBackup(backup.serviceId, signal);
      try {
        await runBackupTo(await toPrivate(access.upstream, signal), target, baseTarget, signal);
        return { ...started, isWritten: true };
      } finally {
        access.close();
      }
    },

    async store({ isWritten: _, ...backup }, signal) {
      const { bytes, files } = await getSql().adopt(backup, signal);
      return { ...backup, sizeBytes: bytes, files: files.length };
    },

    removeUnfinished: (backup, _others, signal) => storage.remove(backup, signal),

    // What other clients of the cluster have changed is not known while it does not run.
    isUnchanged: async () => false,
  };
}
