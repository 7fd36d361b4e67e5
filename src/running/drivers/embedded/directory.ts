import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AppError } from '../../../kernel/errors.ts';
import { isUuid } from '../../../kernel/ids.ts';

/** The folders of one service. */
export interface ServiceDirectory {
  root: string;
  /** The only folder that the process may write to. */
  data: string;
  /** Errors of ClickHouse. Outside of `data`, so that queries cannot change it. */
  log: string;
  /** Exists only during a start. */
  configuration: string;
  /** Exists when the backup that the service was created from is restored completely. */
  restored: string;
  /** Has the id of a backup that replaces the data with the next start. */
  wanted: string;
  /** Where ClickHouse writes and reads backups. */
  backups: string;
}

/** The service's own directory below `directory`. The id becomes part of a path, so anything but a UUID is rejected. */
export function getServiceDirectory(directory: string, serviceId: string): ServiceDirectory {
  if (!isUuid(serviceId)) throw new AppError('bad_request', 'The id of an embedded service must be a UUID');
  const root = join(resolve(directory), serviceId.toLowerCase());
  const data = join(root, 'data');
  return {
    root,
    data,
    log: join(root, 'clickhouse.log'),
    configuration: join(root, 'configuration'),
    restored: join(root, 'restored'),
    wanted: join(root, 'wanted-backup'),
    backups: join(data, 'backups'),
  };
}

const isDirectory = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Also if its data is still to be restored. */
export const hasDirectory = ({ root, data, wanted }: ServiceDirectory): boolean =>
  isDirectory(root) && (isDirectory(data) || existsSync(wanted));

export function createServiceDirectory({ root, data }: ServiceDirectory): void {
  attempt('created', () => mkdirSync(data, { recursive: true, mode: 0o700 }));
  // A link could lead to the data of another service.
  if (!isDirectory(root) || !isDirectory(data))
    throw new AppError('unavailable', `${data} must be a directory, not a link`);
}

/** Lets a service without data start with that of a backup. False if it has data, which stays. */
export function requestRestore(directory: ServiceDirectory, backupId: string): boolean {
  const { wanted } = directory;
  if (hasDirectory(directory) && !existsSync(wanted)) return false;
  createServiceDirectory(directory);
  writeFileSync(wanted, `${backupId}\n`, { mode: 0o600 });
  return true;
}

/** The logs of earlier versions were where queries could write. */
const OLD_LOG = /^clickhouse\.log(\.\d+)?(\.[a-z0-9]+)?$/;

/** Without this file ClickHouse keeps the definitions of `system` only in memory, and fails to store its query log. */
const SYSTEM_DATABASE = 'ATTACH DATABASE system\nENGINE = Ordinary\n';

/** Makes the directory ready for a start. */
export function prepareServiceDirectory(directory: ServiceDirectory): void {
  createServiceDirectory(directory);
  const { data } = directory;
  const metadata = join(data, 'metadata');
  attempt('changed', () => {
    for (const name of readdirSync(data))
      if (OLD_LOG.test(name)) rmSync(join(data, name), { recursive: true, force: true });
    mkdirSync(metadata, { recursive: true, mode: 0o700 });
    if (!isDirectory(metadata)) return;
    const database = join(metadata, 'system.sql');
    const queryLog = join(metadata, 'system/query_log.sql');
    for (const path of [database, queryLog]) removeIfEmpty(path);
    // ClickHouse does not create the log if there is a folder with its rows.
    if (!existsSync(queryLog)) rmSync(join(data, 'data/system/query_log'), { recursive: true, force: true });
    if (existsSync(database)) return;
    mkdirSync(join(metadata, 'system'), { recursive: true, mode: 0o700 });
    writeFileSync(database, SYSTEM_DATABASE, { flag: 'wx', mode: 0o600 });
  });
}

/** A definition that was written to a full disk is empty, and ClickHouse does not start with it. */
function removeIfEmpty(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.size === 0) rmSync(path);
}

function attempt(what: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw new AppError('unavailable', `The directory of the service cannot be ${what}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Removes the directory with everything in it. Links are removed, not followed. */
export async function removeServiceDirectory({ root }: ServiceDirectory): Promise<void> {
  await rm(root, { recursive: true, force: true });
}
