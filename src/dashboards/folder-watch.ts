import { type FSWatcher, watch } from 'node:fs';
import type { Logger } from 'pino';
import { AppError } from '../kernel/errors.ts';
import { createFolderReader, type FoundFile, foldersBelow } from './folder.ts';
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
  const read = createFolderReader(directory);
  let seen: FoundFile[] | undefined;
  let told = '';
  let running = Promise.resolve();
  let isClosed = false;
  let debounce: NodeJS.Timeout | undefined;

  const watchers = createWatchers(() => {
    clearTimeout(debounce);
    debounce = setTimeout(again, DEBOUNCE_MS);
  });

  async function scan(): Promise<void> {
    // First: what changes from here on is another scan.
    watchers.follow(foldersBelow(directory));
    const files = read();
    if (files.length === seen?.length && files.every((file, index) => file === seen?.[index])) return;
    const result = await provisioning.apply(files);
    // A file that waits for its organization is looked at again, though nothing in the folder changes.
    seen = result.mistakes.length === 0 ? files : undefined;
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
      seen = undefined;
      watchers.follow([]);
    });
  }

  try {
    await scan();
  } catch (error) {
    watchers.follow([]);
    if (error instanceof AppError) throw error;
    throw new AppError('bad_request', `The dashboards folder cannot be read: ${(error as Error).message}`);
  }
  const rescan = setInterval(again, RESCAN_MS).unref();

  return {
    async close() {
      isClosed = true;
      clearTimeout(debounce);
      clearInterval(rescan);
      watchers.follow([]);
      await running;
    },
  };
}

/**
 * One watcher for each folder, made anew as folders come and go: Node's own recursive watching loses files that are
 * replaced. Where the system has nothing to watch with, the re-scan finds changes all the same.
 */
function createWatchers(changed: () => void) {
  const watchers = new Map<string, FSWatcher>();

  function forget(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  function add(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, changed);
      watcher.on('error', () => forget(folder));
      watchers.set(folder, watcher);
    } catch {
      // see above
    }
  }

  return {
    follow(folders: readonly string[]): void {
      for (const known of watchers.keys()) if (!folders.includes(known)) forget(known);
      for (const folder of folders) if (!watchers.has(folder)) add(folder);
    },
  };
}
