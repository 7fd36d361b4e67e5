import { AppError } from '../../../kernel/errors.ts';
import { isUuid } from '../../../kernel/ids.ts';
import type { Backup } from '../backup.ts';
import type { Manifest, OnBytes } from './manifest.ts';

/** The parts of a backup that lead to its files. */
export type StoredBackup = Pick<Backup, 'id' | 'serviceId' | 'baseId' | 'location'>;

/** The files of backups, with a manifest. A backup has a manifest only when it is complete. */
export interface Storage {
  /** Stored with each backup; undefined for the directory. */
  location: string | undefined;
  /**
   * Takes the files that ClickHouse has written to `from`, checks them where they are now, and removes `from`. Called again
   * after an interruption, it continues.
   */
  add(backup: StoredBackup, from: string, signal: AbortSignal): Promise<Manifest>;
  /** Copies the files to `to`, and checks them meanwhile. */
  copy(backup: StoredBackup, to: string, options: CopyOptions): Promise<void>;
  /**
   * Lets ClickHouse read the files in `to`. The result checks those that were not copied, and can be called while
   * ClickHouse reads them.
   */
  provide(backup: StoredBackup, to: string, options: CopyOptions): Promise<() => Promise<void>>;
  /** ClickHouse's list of the files of a backup, as text. Undefined if there is none. */
  readList(backup: StoredBackup, signal: AbortSignal): Promise<string | undefined>;
  /** Removes a backup, whether or not it is complete. */
  remove(backup: StoredBackup, signal: AbortSignal): Promise<void>;
  /** Undefined for the directory, which other machines cannot reach, and without a key for ClickHouse. */
  sql?: SqlStorage;
  /** Why backups cannot be stored, in one sentence for users. */
  findObstacle(signal: AbortSignal): Promise<string | undefined>;
}

interface CopyOptions {
  signal: AbortSignal;
  /** Gets the size of each file. */
  onBytes?: OnBytes;
}

/** Storage that ClickHouse itself writes to. */
export interface SqlStorage {
  /** Where the files of a backup are, for the statement `BACKUP`. Has the secret. */
  formatTarget(backup: StoredBackup): Promise<SecretSql>;
  /** Checks that the files of ClickHouse's list are there with their sizes, and writes the manifest. */
  adopt(backup: StoredBackup, signal: AbortSignal): Promise<Manifest>;
}

/** A part of a statement. `secret` is in it, and must be in no log and no message. */
export interface SecretSql {
  sql: string;
  secret: string;
}

export const NAMES = {
  manifest: 'manifest.json',
  files: 'files',
  /** ClickHouse's list of the files of a backup. The next backup of a chain needs no other file. */
  list: '.backup',
};

/** Ids become part of a path. */
export function getStoredPath({ id, serviceId }: StoredBackup): string {
  if (!isUuid(id) || !isUuid(serviceId)) throw new AppError('bad_request', 'The id of a backup must be a UUID');
  return `${serviceId}/${id}`;
}

/** New backups go to the first storage; each earlier one stays where it was made. */
export function combineStorages(current: Storage, ...others: Storage[]): Storage {
  const get = ({ location }: StoredBackup): Storage => {
    const found = [current, ...others].find((storage) => storage.location === location);
    if (found) return found;
    throw new AppError('unavailable', `The backup is in ${location}, which the settings of this server do not name`);
  };
  return {
    location: current.location,
    add: async (backup, ...rest) => get(backup).add(backup, ...rest),
    copy: async (backup, ...rest) => get(backup).copy(backup, ...rest),
    provide: async (backup, ...rest) => get(backup).provide(backup, ...rest),
    readList: async (backup, signal) => get(backup).readList(backup, signal),
    remove: async (backup, signal) => get(backup).remove(backup, signal),
    ...(current.sql && { sql: current.sql }),
    findObstacle: current.findObstacle,
  };
}
