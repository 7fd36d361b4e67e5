import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../kernel/time/clock.ts';
import type { BackupAccess } from '../../management/services/driver.ts';
import { getServiceDirectory } from '../drivers/embedded/directory.ts';
import { readFingerprint } from '../drivers/embedded/fingerprint.ts';
import { type Backup, findBase } from './backup.ts';
import { syncAll } from './manifest.ts';
import { runBackup } from './statements.ts';
import { NAMES, type Storage } from './storage.ts';

interface Options {
  clock: Clock;
  /** Contains one directory per embedded service. */
  servicesDirectory: string;
  storage: Storage;
  /** Wakes the service if it is idle. */
  openBackup(serviceId: string): Promise<BackupAccess>;
}

/** Lets ClickHouse write a backup to the folder of the service. `earlier` are its other backups, newest first. */
export async function writeBackup(
  { clock, servicesDirectory, storage, openBackup }: Options,
  backup: Backup,
  earlier: readonly Backup[],
  signal: AbortSignal,
): Promise<Backup> {
  const { id, serviceId } = backup;
  const { data, backups } = getServiceDirectory(servicesDirectory, serviceId);
  const written = join(backups, id);
  // Before the backup: what changes meanwhile counts as a change.
  const fingerprint = await readFingerprint(data);
  const access = await openBackup(serviceId);
  const { location } = storage;
  const base = findBase(earlier, { directoryId: backup.directoryId, location }, clock.now());
  const baseFolder = base && join(backups, base.id);
  try {
    await rm(written, { recursive: true, force: true });
    const list = base && (await storage.readList(base, signal));
    const started: Backup = { ...backup, location, fingerprint };
    if (list !== undefined && baseFolder !== undefined) {
      Object.assign(started, { baseId: base?.id, chainId: base?.chainId });
      await mkdir(baseFolder, { recursive: true, mode: 0o700 });
      await writeFile(join(baseFolder, NAMES.list), list, { mode: 0o600 });
    }
    await runBackup(access.upstream, id, started.baseId, signal);
    await syncAll(written);
    return { ...started, isWritten: true };
  } finally {
    access.close();
    if (baseFolder !== undefined) await rm(baseFolder, { recursive: true, force: true });
  }
}

/** Moves what ClickHouse has written to the storage. Returns the backup as it is when done. */
export async function storeBackup(
  { servicesDirectory, storage }: Pick<Options, 'servicesDirectory' | 'storage'>,
  { isWritten: _, ...backup }: Backup,
  signal: AbortSignal,
): Promise<Backup> {
  const { backups } = getServiceDirectory(servicesDirectory, backup.serviceId);
  const { bytes, files } = await storage.add(backup, join(backups, backup.id), signal);
  return { ...backup, sizeBytes: bytes, files: files.length };
}

/** Removes what a backup that was not finished has left; `others` are those of the same service. */
export async function removeUnfinished(
  { servicesDirectory, storage }: Pick<Options, 'servicesDirectory' | 'storage'>,
  backup: Backup,
  others: readonly Backup[],
  signal: AbortSignal,
): Promise<void> {
  const { backups } = getServiceDirectory(servicesDirectory, backup.serviceId);
  for (const { id } of [backup, ...others]) await rm(join(backups, id), { recursive: true, force: true });
  await storage.remove(backup, signal);
}
