import { existsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { DrivenService, Observed, Upstream } from '../../../management/services/driver.ts';
import type { ServiceDirectory } from './directory.ts';

/** The data that a new service starts with. */
export interface Restore {
  service: DrivenService;
  backupId: string;
  /** A service without data. */
  upstream: Upstream;
  /** Where ClickHouse reads backups. */
  folder: string;
  signal: AbortSignal;
  /** `text` is for users. */
  onProgress(text: string): void;
}

export type RunRestore = (restore: Restore) => Promise<void>;

/** Whether the data of a backup is still to be restored. */
export const needsRestore = ({ restore }: DrivenService, { restored }: ServiceDirectory): boolean =>
  restore !== undefined && !existsSync(restored);

/** What an interrupted restore has left must not be mistaken for data. */
export const removePartialData = ({ data }: ServiceDirectory): Promise<void> =>
  rm(data, { recursive: true, force: true });

export type Restoring = ReturnType<typeof startRestore>;

/** Restores in the background. Until it is done, the service is provisioning. */
export function startRestore(
  run: RunRestore,
  restore: Omit<Restore, 'signal' | 'onProgress' | 'folder'>,
  { backups, restored }: ServiceDirectory,
  onEnd: (failure: string | undefined) => void,
) {
  const { backupId } = restore;
  const closing = new AbortController();
  let progress = 'starting';

  async function work(): Promise<void> {
    const onProgress = (text: string) => {
      progress = text;
    };
    await run({ ...restore, folder: backups, signal: closing.signal, onProgress });
    const marker = await open(restored, 'w', 0o600);
    await marker.writeFile(`${backupId}\n`);
    await marker.sync();
    await marker.close();
  }

  const ended = work().then(
    () => onEnd(undefined),
    (error: Error) => {
      if (!closing.signal.aborted) onEnd(`The backup ${backupId} could not be restored: ${error.message}`);
    },
  );

  return {
    observe: (): Observed => ({ state: 'provisioning', reason: `Restoring the backup ${backupId}: ${progress}` }),

    /** Resolves when nothing is written any more. */
    async cancel(): Promise<void> {
      closing.abort();
      await ended;
    },
  };
}
