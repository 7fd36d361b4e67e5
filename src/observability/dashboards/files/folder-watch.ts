import { type FSWatcher, watch } from 'node:fs';
import type { Logger } from 'pino';
import { AppError } from '../../../kernel/errors.ts';
import { createBackgroundLoop } from '../../../kernel/tasks/background-loop.ts';
import { type AlertFileText, createFolderReader, type FoundFile } from './folder.ts';
import type { FileProblems, Provisioned, Provisioning } from './provisioning.ts';

interface Options {
  directory: string;
  provisioning: Provisioning;
  /** All of them or none. */
  applyAlertFiles(
    files: readonly AlertFileText[],
  ): Promise<{ changed: number; problems: FileProblems[]; warnings: FileProblems[] }>;
  log: Pick<Logger, 'info' | 'warn'>;
}

/** An editor saves a file in several steps, and a deployment writes many files: wait for the last event. */
const DEBOUNCE_MS = 200;
/** Network file systems and some containers report no changes, so the folder is also read periodically. */
const RESCAN_MS = 10_000;

interface FolderWatch {
  close(): Promise<void>;
}

/** Applies the folder now and after every change. Throws if the folder cannot be read at startup. */
export async function openFolderWatch({
  directory,
  provisioning,
  applyAlertFiles,
  log,
}: Options): Promise<FolderWatch> {
  const readFiles = createFolderReader(directory);
  let applied: FoundFile[] | undefined;
  let lastProblems = '';
  let failure: unknown;

  const loop = createBackgroundLoop({ run: scan, everyMs: RESCAN_MS, onError: handleFailure });
  const watchers = createWatchers(() => loop.schedule(DEBOUNCE_MS));

  async function scan(): Promise<void> {
    failure = undefined;
    const { files, folders } = await readFiles();
    // A change that was made meanwhile in a folder that was not watched is found by another scan.
    if (watchers.setFolders(folders)) loop.schedule(DEBOUNCE_MS);
    if (files.length === applied?.length && files.every((file, index) => file === applied?.[index])) return;
    const result = await provisioning.apply(files);
    const alerts = await applyAlertFiles(files.filter((file) => 'text' in file));
    // Retried on the next scan: what a skipped file names may exist by then.
    applied = result.skipped.length + alerts.problems.length === 0 ? files : undefined;
    report(result, alerts);
  }

  /** Logs the same problems once, not on every scan. */
  function report(
    { skipped, warnings, ...counts }: Provisioned,
    { changed, problems: alertProblems, warnings: alertWarnings }: Awaited<ReturnType<Options['applyAlertFiles']>>,
  ): void {
    if (counts.saved + counts.removed > 0) log.info(counts, 'applied the dashboards folder');
    if (changed > 0) log.info({ changed }, 'applied the alert files of the dashboards folder');
    if (!isNewProblem(JSON.stringify([skipped, warnings, alertProblems, alertWarnings]))) return;
    for (const { path, problems } of alertProblems)
      log.warn({ file: path, problems }, 'the alert files of the dashboards folder are not applied; fix this one');
    for (const { path, problems } of skipped)
      log.warn(
        { file: path, problems },
        'skipped an invalid file of the dashboards folder; its dashboard is unchanged',
      );
    for (const { path, problems } of [...warnings, ...alertWarnings])
      log.warn({ file: path, problems }, 'a file of the dashboards folder names a source that does not exist');
  }

  /** Stored dashboards stay as they are while the folder or the store is unavailable. */
  function handleFailure(error: unknown): void {
    failure = error;
    if (loop.isStarted() && isNewProblem(String(error)))
      log.warn({ err: error }, 'failed to apply the dashboards folder');
    applied = undefined;
    watchers.setFolders([]);
  }

  function isNewProblem(problem: string): boolean {
    const isNew = problem !== lastProblems;
    lastProblems = problem;
    return isNew;
  }

  await loop.trigger();
  if (failure !== undefined) {
    await loop.close();
    if (failure instanceof AppError) throw failure;
    throw new AppError('bad_request', `The dashboards folder cannot be read: ${(failure as Error).message}`);
  }
  loop.startAfterPause();

  return {
    async close() {
      await loop.close();
      watchers.setFolders([]);
    },
  };
}

/**
 * One watcher per folder: Node's recursive watching misses files that are replaced. Without support from the operating
 * system, the periodic scan finds changes.
 */
function createWatchers(onChange: () => void) {
  const watchers = new Map<string, FSWatcher>();
  /** Also those that cannot be watched. */
  let wanted: ReadonlySet<string> = new Set();

  function remove(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  function add(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, onChange);
      watcher.on('error', () => remove(folder));
      watchers.set(folder, watcher);
    } catch {
      // The periodic scan takes over.
    }
  }

  return {
    /** Watches exactly these folders. Returns whether any is new. */
    setFolders(folders: readonly string[]): boolean {
      const before = wanted;
      wanted = new Set(folders);
      for (const watched of watchers.keys()) if (!wanted.has(watched)) remove(watched);
      for (const folder of folders) if (!watchers.has(folder)) add(folder);
      return folders.some((folder) => !before.has(folder));
    },
  };
}
