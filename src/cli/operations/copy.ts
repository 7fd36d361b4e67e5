import { AppError } from '../../kernel/errors.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import type { CopiedTable, CopyOptions } from '../../operations/backup/backup.ts';
import { getServicesDirectory } from '../../server/drivers.ts';
import { getBackupDirectory } from '../../server/service-backups.ts';
import { ENGINE_SETTINGS, type SettingName } from '../../server/settings/settings.ts';
import type { CommandContext } from '../command.ts';
import { openLogs } from '../server/logs.ts';

export const COPY_SETTINGS: readonly SettingName[] = [...ENGINE_SETTINGS, 'backupDirectory'];

/** Where the embedded services of this node and their backups are. */
export function getServicePlaces(context: CommandContext) {
  const config = context.readConfig();
  return { backupDirectory: getBackupDirectory(config), servicesDirectory: getServicesDirectory(config) };
}

/** Runs a copy of all data with progress on the terminal; SIGINT and SIGTERM cancel it. */
export async function runCopy<T>(context: CommandContext, work: (options: CopyOptions) => Promise<T>): Promise<T> {
  const config = context.readConfig();
  const { log, close } = openLogs(config);
  const abort = new AbortController();
  void context.waitForStop().then(() => abort.abort(new AppError('unavailable', 'The command was interrupted')));
  try {
    return await work({
      stores: { ...config, clock: systemClock, log },
      signal: abort.signal,
      onProgress: context.showProgress,
    });
  } finally {
    // Clears the progress line.
    context.showProgress('');
    await close();
  }
}

export const sumRows = (tables: readonly CopiedTable[], part: CopiedTable['part']): number =>
  tables.filter((table) => table.part === part).reduce((sum, { rows }) => sum + rows, 0);
