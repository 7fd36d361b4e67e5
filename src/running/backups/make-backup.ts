import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../kernel/time/clock.ts';
import type { BackupAccess } from '../../management/services/driver.ts';
import { getServiceDirectory } from '../drivers/embedded/directory.ts';
import { readFingerprint } from '../drivers/embedded/fingerprint.ts';
import { type Backup, findBase } from './backup.ts';
import type { BackupDirectory } from './directory.ts';
import { runBackup } from './statements.ts';

interface Options {
  clock: Clock;
  /** Contains one directory per embedded service. */
  servicesDirectory: string;
  directory: BackupDirectory;
  /** Wakes the service if it is idle. */
  openBackup(serviceId: string): Promise<BackupAccess>;
}

/** Backs up the data of one service. `earlier` are its other backups, newest first. Returns the backup as it is when done. */
export async function makeBackup(
  { clock, servicesDirectory, directory, openBackup }: Options,
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
  const base = findBase(earlier, backup.directoryId, clock.now());
  const baseList = base && join(backups, base.id);
  try {
    await rm(written, { recursive: true, force: true });
    const hasBase = base !== undefined && baseList !== undefined && (await directory.copyList(base, baseList));
    const started: Backup = hasBase ? { ...backup, baseId: base.id, chainId: base.chainId } : backup;
    await runBackup(access.upstream, id, started.baseId, signal);
    const { bytes, files } = await directory.add(started, written, signal);
    return { ...started, fingerprint, sizeBytes: bytes, files: files.length };
  } finally {
    access.close();
    if (baseList !== undefined) await rm(baseList, { recursive: true, force: true });
  }
}

/** Removes what a backup that was not finished has left; `others` are those of the same service. */
export async function removeUnfinished(
  { servicesDirectory, directory }: Pick<Options, 'servicesDirectory' | 'directory'>,
  backup: Backup,
  others: readonly Backup[] = [],
): Promise<void> {
  const { backups } = getServiceDirectory(servicesDirectory, backup.serviceId);
  for (const { id } of [backup, ...others]) await rm(join(backups, id), { recursive: true, force: true });
  await directory.remove(backup);
}
