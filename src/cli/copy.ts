import { AppError } from '../kernel/errors.ts';
import { systemClock } from '../kernel/time/clock.ts';
import type { CopiedTable, CopyOptions } from '../operations/backup/backup.ts';
import type { CommandContext } from './command.ts';
import { openLogs } from './logs.ts';

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
