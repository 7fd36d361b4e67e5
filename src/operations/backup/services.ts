import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import { readBoundedText } from '../../kernel/files/read-file.ts';
import { isUuid } from '../../kernel/ids.ts';
import { adoptDirectoryName, readDirectoryName } from '../../platform/engine/directory-id.ts';
import { openRawStore } from '../../platform/state/raw-access.ts';
import { copyBackup, listNewestChains } from '../../running/backups/copies.ts';
import { createBackupDirectory } from '../../running/backups/storage/directory.ts';
import type { StoredBackup } from '../../running/backups/storage/storage.ts';
import { getServiceDirectory, requestRestore } from '../../running/drivers/embedded/directory.ts';
import type { CopyOptions } from './backup.ts';

interface ServiceCopyOptions extends CopyOptions {
  /** The file of the control plane's backup. */
  file: string;
  /** Of the backups of services. */
  backupDirectory: string;
  servicesDirectory: string;
}

/** In the folder next to the file. */
interface Index {
  format: 1;
  /** Of the node whose services these are. */
  directoryId: string;
  services: { serviceId: string; serviceName: string; backupId: string; chain: StoredBackup[] }[];
}

const INDEX = 'services.json';
const TEMPORARY = '.restoring';
const getFolder = (file: string): string => `${resolve(file)}.services`;

/** Backups in S3-compatible storage stay there. */
const isInDirectory = ({ location }: StoredBackup): boolean => location === undefined;

/**
 * Copies the newest backup of each service of this node to a folder next to the file, then makes the file: its rows name
 * these backups.
 */
export async function withServices<T>(
  options: ServiceCopyOptions & { force: boolean },
  backUp: () => Promise<T>,
): Promise<{ result: T; services: number }> {
  const { file, force, stores, backupDirectory, signal, onProgress } = options;
  const folder = getFolder(file);
  const partial = `${folder}.partial`;
  if (!force && existsSync(folder))
    throw new AppError('conflict', `${folder} exists; choose another name, or replace it with --force`);
  const directoryId = readDirectoryName(stores.dataDirectory);
  const store = await openRawStore(stores, {});
  const services = await store.read((tx) => listNewestChains(tx, directoryId)).finally(() => store.close());
  try {
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true, mode: 0o700 });
    const copy = { from: createBackupDirectory(backupDirectory), to: createBackupDirectory(partial) };
    for (const { serviceName, chain } of services)
      for (const backup of chain.filter(isInDirectory)) {
        onProgress(`service ${serviceName}: backup ${backup.id}`);
        await copyBackup({ ...copy, temporary: join(partial, TEMPORARY) }, backup, signal);
      }
    await rm(join(partial, TEMPORARY), { recursive: true, force: true });
    const index: Index = { format: 1, directoryId, services };
    await writeFile(join(partial, INDEX), JSON.stringify(index), { mode: 0o600 });
    const result = await backUp();
    await rm(folder, { recursive: true, force: true });
    await rename(partial, folder);
    return { result, services: services.length };
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Copies the backups back, restores the file, and lets the services that have no data here start with that of their
 * backups. May be repeated.
 */
export async function restoreWithServices<T>(
  { file, stores, backupDirectory, servicesDirectory, signal, onProgress }: ServiceCopyOptions,
  restore: () => Promise<T>,
): Promise<{ result: T; restored: string[]; kept: string[] }> {
  const folder = getFolder(file);
  const { directoryId, services } = await readIndex(folder);
  adoptDirectoryName(stores.dataDirectory, directoryId);
  const temporary = join(backupDirectory, TEMPORARY);
  const copy = { from: createBackupDirectory(folder), to: createBackupDirectory(backupDirectory), temporary };
  await rm(temporary, { recursive: true, force: true });
  try {
    for (const { serviceName, chain } of services)
      for (const backup of chain.filter(isInDirectory)) {
        onProgress(`service ${serviceName}: backup ${backup.id}`);
        await copyBackup(copy, backup, signal);
      }
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  const result = await restore();
  const [restored, kept]: [string[], string[]] = [[], []];
  for (const { serviceId, serviceName, backupId } of services) {
    const isRequested = requestRestore(getServiceDirectory(servicesDirectory, serviceId), backupId);
    (isRequested ? restored : kept).push(serviceName);
  }
  return { result, restored, kept };
}

const MAX_INDEX_BYTES = 64 * 2 ** 20;

async function readIndex(folder: string): Promise<Index> {
  const path = join(folder, INDEX);
  const text = await readBoundedText(path, MAX_INDEX_BYTES).catch((error: Error) => {
    throw new AppError('bad_request', `${path} cannot be read: ${error.message}`);
  });
  try {
    const index: Index = JSON.parse(text);
    const ids = index.services.flatMap(({ serviceId, backupId, chain }) => [
      serviceId,
      backupId,
      ...chain.flatMap((backup) => [backup.id, backup.serviceId]),
    ]);
    if (index.format === 1 && [index.directoryId, ...ids].every(isUuid)) return index;
  } catch {
    // As below.
  }
  throw new AppError('conflict', `${path} is damaged, or of another version of Pilothouse. Nothing was changed`);
}
