import { join } from 'node:path';
import type { Db } from '../../platform/state/tables.ts';
import { type Backup, findNewestDone, listChain } from './backup.ts';
import type { Storage, StoredBackup } from './storage/storage.ts';
import { listBackedUpServices, listBackups } from './store.ts';

/** What is needed to restore the newest backup of a service, the full backup first. */
interface NewestBackup {
  serviceId: string;
  serviceName: string;
  backupId: string;
  chain: StoredBackup[];
}

/** Of the services of a node, without those that were deleted. */
export async function listNewestChains(db: Db, directoryId: string): Promise<NewestBackup[]> {
  const found: NewestBackup[] = [];
  for (const { organizationId, serviceId } of await listBackedUpServices(db, directoryId)) {
    const backups = await listBackups(db, organizationId, serviceId);
    const newest = findNewestDone(backups);
    const chain = newest && newest.expireAt === undefined ? listChain(newest, backups) : undefined;
    if (newest && chain)
      found.push({ serviceId, serviceName: newest.serviceName, backupId: newest.id, chain: chain.map(toStored) });
  }
  return found;
}

const toStored = ({ id, serviceId, baseId, location }: Backup): StoredBackup => ({
  id,
  serviceId,
  ...(baseId !== undefined && { baseId }),
  ...(location !== undefined && { location }),
});

/** `temporary` is a folder on the file system of `to`. All checksums are verified. */
export async function copyBackup(
  { from, to, temporary }: { from: Storage; to: Storage; temporary: string },
  backup: StoredBackup,
  signal: AbortSignal,
): Promise<void> {
  const folder = join(temporary, backup.id);
  await from.copy(backup, folder, { signal });
  await to.add(backup, folder, signal);
}
