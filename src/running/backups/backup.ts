import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/time/clock.ts';
import { DRIVERS } from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';
import { type BackupConfiguration, DEFAULT_BACKUP } from '../../management/services/service-settings.ts';

/** In place of the id of a data directory: the service runs elsewhere, and ClickHouse writes its backups to the storage. */
export const ELSEWHERE = 'elsewhere';

/** What services elsewhere need for backups. */
export const SQL_SETTINGS = 'set --backup-storage and --backup-s3-sql-credentials-file';

/** What a node still has to do. */
export type PendingWork = 'backup' | 'verify' | 'remove';

interface Verification {
  /** Epoch milliseconds. */
  at: number;
  /** Of all tables that were compared. */
  tables: number;
  rows: number;
  /** Why the restored tables are not those of the backup. */
  error?: string | undefined;
}

/** A backup of the data of one service. Times are epoch milliseconds. */
export interface Backup {
  organizationId: string;
  id: string;
  serviceId: string;
  /** The id of the full backup at the start of the chain. */
  chainId: string;
  /** The id of the data directory of the node that has the files, or `ELSEWHERE`. */
  directoryId: string;
  /** The storage that has the files; undefined for the backup directory. */
  location?: string | undefined;
  status: 'in_progress' | 'done' | 'error';
  pending?: PendingWork | undefined;
  startedAt: number;
  /** When a backup of a deleted service is deleted. */
  expireAt?: number | undefined;
  finishedAt?: number | undefined;
  /** The backup that this one adds to; undefined for a full one. */
  baseId?: string | undefined;
  sizeBytes?: number | undefined;
  files?: number | undefined;
  /** Why it failed, in one sentence for users. */
  error?: string | undefined;
  serviceName: string;
  retentionHours: number;
  /** The process that works on it. */
  worker?: string | undefined;
  /** ClickHouse has written the files, and they are being stored. */
  isWritten?: boolean | undefined;
  /** Of the data when the backup started. */
  fingerprint?: string | undefined;
  /** When the data was last found to be the same as in the backup. */
  unchangedAt?: number | undefined;
  verification?: Verification | undefined;
}

/** A full backup starts a new chain at least this often. */
const CHAIN_MS = 7 * DAY_MS;
/** After a failed backup. Doubled after each further one, up to the period. */
const RETRY_MS = 15 * MINUTE_MS;

export const getBackupConfiguration = ({ settings }: Readonly<Service>): BackupConfiguration =>
  settings?.backupConfiguration ?? DEFAULT_BACKUP;

/**
 * Whether a service is backed up by its schedule. A stopped one is not started: nothing changes in it. `hasSqlStorage`:
 * ClickHouse elsewhere can write backups to S3-compatible storage, with a key of its own.
 */
export const isBackedUp = ({ driver, desiredState, observed }: Readonly<Service>, hasSqlStorage: boolean): boolean =>
  desiredState !== 'stopped' &&
  (DRIVERS[driver].isLocal === true ||
    (DRIVERS[driver].isBackedUpBySql === true && hasSqlStorage && observed.endpoint !== undefined));

/** Until when the data is known to be in a backup. */
const getCurrentUntil = ({ startedAt, unchangedAt = 0 }: Backup): number => Math.max(startedAt, unchangedAt);

/** When the next backup of a service is to start. `newest`: its newest backup that is done. */
export function getDueAt(service: Readonly<Service>, newest: Backup | undefined): number {
  const { backupPeriodInHours, backupStartTime } = getBackupConfiguration(service);
  const since = newest ? getCurrentUntil(newest) : service.createdAt;
  return backupStartTime === undefined ? since + backupPeriodInHours * HOUR_MS : findNext(since, backupStartTime);
}

/** The first time of day `HH:MM` (UTC) after `since`. */
function findNext(since: number, timeOfDay: string): number {
  const [hours = 0, minutes = 0] = timeOfDay.split(':').map(Number);
  const sameDay = Math.floor(since / DAY_MS) * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS;
  return sameDay > since ? sameDay : sameDay + DAY_MS;
}

function getRetryMs(service: Readonly<Service>, backups: readonly Backup[]): number {
  const done = backups.findIndex(({ status }) => status === 'done');
  const failures = done < 0 ? backups.length : done;
  return Math.min(RETRY_MS * 2 ** (failures - 1), getBackupConfiguration(service).backupPeriodInHours * HOUR_MS);
}

/** Whether a backup is to start now. `backups` are those of the service, newest first. */
export function isDue(service: Readonly<Service>, backups: readonly Backup[], now: number): boolean {
  const [last] = backups;
  if (last?.status === 'in_progress') return false;
  if (last?.status === 'error' && now < last.startedAt + getRetryMs(service, backups)) return false;
  return now >= getDueAt(service, findNewestDone(backups));
}

/** `backups` are newest first. */
export const findNewestDone = (backups: readonly Backup[]): Backup | undefined =>
  backups.find(({ status, pending }) => status === 'done' && pending !== 'remove');

/** The backup that the next one in the same place can add to; undefined if it must be a full one. `backups` are newest first. */
export function findBase(
  backups: readonly Backup[],
  place: Pick<Backup, 'directoryId' | 'location'>,
  now: number,
): Backup | undefined {
  const newest = findNewestDone(backups);
  const full = newest && backups.find(({ id }) => id === newest.chainId);
  if (!full || newest.directoryId !== place.directoryId || newest.location !== place.location) return undefined;
  return now - full.startedAt < CHAIN_MS ? newest : undefined;
}

/** The backups that are needed to restore one, the full one first. Undefined if one of them is missing. */
export function listChain(backup: Backup, backups: readonly Backup[]): Backup[] | undefined {
  const chain = [backup];
  for (let [first] = chain; first?.baseId !== undefined; [first] = chain) {
    const base = backups.find(({ id }) => id === first?.baseId);
    if (base?.status !== 'done') return undefined;
    chain.unshift(base);
  }
  return chain;
}

/**
 * The backups to delete now: whole chains whose retention has passed. A service that exists keeps the chain of its newest
 * backup, which is current as long as nothing changes. `backups` are those of one service, newest first.
 */
export function listExpired(backups: readonly Backup[], service: Readonly<Service> | undefined, now: number): Backup[] {
  const kept = new Set<string>();
  const newest = service && findNewestDone(backups);
  if (newest) kept.add(newest.chainId);
  for (const backup of backups) if (!isExpired(backup, service, now)) kept.add(backup.chainId);
  return backups.filter(({ chainId, pending }) => !kept.has(chainId) && pending !== 'remove');
}

function isExpired(backup: Backup, service: Readonly<Service> | undefined, now: number): boolean {
  if (backup.pending === 'remove') return true;
  if (backup.pending !== undefined) return false;
  if (!service) return backup.expireAt !== undefined && now >= backup.expireAt;
  return now >= backup.startedAt + getBackupConfiguration(service).backupRetentionPeriodInHours * HOUR_MS;
}
