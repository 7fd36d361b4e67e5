import { existsSync, readFileSync } from 'node:fs';
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

/** The backup whose data is still to be restored: of a new service, or with the control plane. */
export function findWantedBackup(
  { restore }: DrivenService,
  { restored, wanted }: ServiceDirectory,
): string | undefined {
  if (existsSync(wanted)) return readFileSync(wanted, 'utf8').trim();
  return existsSync(restored) ? undefined : restore?.backupId;
}

/** What an interrupted restore has left must not be mistaken for data. */
export const removePartialData = ({ data }: ServiceDirectory): Promise<void> =>
  rm(data, { recursive: true, force: true });

export type Restoring = ReturnType<typeof startRestore>;

/** Restores in the background. Until it is done, the service is provisioning. */
export function startRestore(
  run: RunRestore,
  restore: Omit<Restore, 'signal' | 'onProgress' | 'folder'>,
  { backups, restored, wanted }: ServiceDirectory,
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
    await rm(wanted, { force: true });
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
