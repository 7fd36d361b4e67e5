import { type FSWatcher, watch } from 'node:fs';
import type { Logger } from 'pino';
import { AppError } from '../kernel/errors.ts';
import { readFolder } from './folder.ts';
import type { Provisioned, Provisioning } from './provisioning.ts';

interface Options {
  directory: string;
  provisioning: Provisioning;
  log: Pick<Logger, 'info' | 'warn'>;
}

/** An editor writes a file in several steps, a deployment many files: they are looked at together. */
const DEBOUNCE_MS = 200;
/** Some file systems tell nobody when something changes. */
const RESCAN_MS = 10_000;

export interface FolderWatch {
  close(): Promise<void>;
}

/** Applies the folder now, and again whenever it changes. Throws when it cannot be read at all to begin with. */
export async function openFolderWatch({ directory, provisioning, log }: Options): Promise<FolderWatch> {
  let seen = '';
  let told = '';
  let running = Promise.resolve();
  let isClosed = false;
  let debounce: NodeJS.Timeout | undefined;

  async function scan(): Promise<void> {
    const files = readFolder(directory);
    const text = JSON.stringify(files);
    if (text === seen) return;
    const result = await provisioning.apply(files);
    // A file that waits for its organization is looked at again, though nothing in the folder changes.
    seen = result.mistakes.length === 0 ? text : '';
    tell(result);
  }

  function tell({ mistakes, warnings, ...counts }: Provisioned): void {
    const news = JSON.stringify([mistakes, warnings]);
    if (counts.saved + counts.removed > 0) log.info(counts, 'applied the dashboards folder');
    if (news === told) return;
    told = news;
    for (const { path, mistakes: reasons } of mistakes)
      log.warn({ file: path, mistakes: reasons }, 'left a file of the dashboards folder out; what it said last stays');
    for (const { path, mistakes: reasons } of warnings)
      log.warn({ file: path, warnings: reasons }, 'a file of the dashboards folder refers to what is not there');
  }

  /** One after the other. A folder that is gone for the moment, or a store that is, changes nothing. */
  function again(): void {
    if (isClosed) return;
    running = running.then(scan).catch((error) => {
      const news = String(error);
      if (news !== told) log.warn({ err: error }, 'could not apply the dashboards folder');
      told = news;
      seen = '';
    });
  }

  try {
    await scan();
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('bad_request', `The dashboards folder cannot be read: ${(error as Error).message}`);
  }
  const watcher = watched(directory, () => {
    clearTimeout(debounce);
    debounce = setTimeout(again, DEBOUNCE_MS);
  });
  const rescan = setInterval(again, RESCAN_MS).unref();

  return {
    async close() {
      isClosed = true;
      clearTimeout(debounce);
      clearInterval(rescan);
      watcher?.close();
      await running;
    },
  };
}

/** Undefined where the system has nothing to watch with: the re-scan finds changes all the same. */
function watched(directory: string, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { recursive: true, persistent: false }, changed);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
