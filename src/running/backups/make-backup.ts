import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../kernel/time/clock.ts';
import type { BackupAccess } from '../../management/services/driver.ts';
import { getServiceDirectory } from '../drivers/embedded/directory.ts';
import { readFingerprint } from '../drivers/embedded/fingerprint.ts';
import { type Backup, findBase } from './backup.ts';
import type { BackupMaker } from './maker.ts';
import { runBackup } from './statements.ts';
import { syncAll } from './storage/manifest.ts';
import { NAMES, type Storage } from './storage/storage.ts';
import { rejectIncomplete } from './storage/written-files.ts';

interface Options {
  clock: Clock;
  directoryId: string;
  /** Contains one directory per embedded service. */
  servicesDirectory: string;
  storage: Storage;
  /** Wakes the service if it is idle, and waits until it runs. */
  openBackup(serviceId: string, signal: AbortSignal): Promise<BackupAccess>;
}

/** Each one reads and writes whole tables. */
const CONCURRENCY = 2;

/** Of embedded services: ClickHouse writes to the folder of the service, and the files are moved to the storage. */
export function createEmbeddedMaker(options: Options): BackupMaker {
  const { clock, directoryId, servicesDirectory, storage, openBackup } = options;
  const getDirectory = ({ serviceId }: Backup) => getServiceDirectory(servicesDirectory, serviceId);

  return {
    directoryId,
    location: storage.location,
    concurrency: CONCURRENCY,

    async write(backup, earlier, signal) {
      const { id, serviceId } = backup;
      const { data, backups } = getDirectory(backup);
      const written = join(backups, id);
      // Before the backup: what changes meanwhile counts as a change.
      const fingerprint = await readFingerprint(data);
      const access = await openBackup(serviceId, signal);
      const base = findBase(earlier, backup, clock.now());
      const baseFolder = base && join(backups, base.id);
      try {
        await rm(written, { recursive: true, force: true });
        const list = base && (await storage.readList(base, signal));
        const started: Backup = { ...backup, fingerprint };
        if (list !== undefined && baseFolder !== undefined) {
          Object.assign(started, { baseId: base?.id, chainId: base?.chainId });
          await mkdir(baseFolder, { recursive: true, mode: 0o700 });
          await writeFile(join(baseFolder, NAMES.list), list, { mode: 0o600 });
        }
        await runBackup(access.upstream, id, started.baseId, signal);
        await rejectIncomplete(written);
        await syncAll(written);
        return { ...started, isWritten: true };
      } finally {
        access.close();
        if (baseFolder !== undefined) await rm(baseFolder, { recursive: true, force: true });
      }
    },

    async store({ isWritten: _, ...backup }, signal) {
      const { bytes, files } = await storage.add(backup, join(getDirectory(backup).backups, backup.id), signal);
      return { ...backup, sizeBytes: bytes, files: files.length };
    },

    async removeUnfinished(backup, others, signal) {
      const { backups } = getDirectory(backup);
      for (const { id } of [backup, ...others]) await rm(join(backups, id), { recursive: true, force: true });
      await storage.remove(backup, signal);
    },

    isUnchanged: async (backup) =>
      backup.fingerprint !== undefined && backup.fingerprint === (await readFingerprint(getDirectory(backup).data)),
  };
}
