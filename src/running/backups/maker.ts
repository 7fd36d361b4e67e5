import type { Backup } from './backup.ts';

/** How the backups of some services are made. The work of a maker can be continued after a kill between its steps. */
export interface BackupMaker {
  /** The data directory of the services, or `ELSEWHERE`. */
  directoryId: string;
  /** The storage of new backups, which is stored with a backup before anything is written there. */
  location: string | undefined;
  /** How many backups are made at the same time. */
  concurrency: number;
  /** Lets ClickHouse write the backup. `earlier` are the other backups of the service, newest first. */
  write(backup: Backup, earlier: readonly Backup[], signal: AbortSignal): Promise<Backup>;
  /** Completes what was written. Returns the backup as it is when done. */
  store(backup: Backup, signal: AbortSignal): Promise<Backup>;
  /** Removes what a backup that was not finished has left; `others` are those of the same service. */
  removeUnfinished(backup: Backup, others: readonly Backup[], signal: AbortSignal): Promise<void>;
  /** Whether the data of an idle service is still that of the backup. */
  isUnchanged(backup: Backup): Promise<boolean>;
}
