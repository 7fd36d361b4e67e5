import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Backup } from './backup.ts';
import { checkFiles, copyFiles, createManifest, damaged, listFiles, type Manifest } from './manifest.ts';

type BackupId = Pick<Backup, 'id' | 'serviceId'>;

const MANIFEST = 'manifest.json';
const FILES = 'files';
/** A backup that is not complete. */
const PARTIAL = '.partial';
/** ClickHouse's list of the files of a backup. The next backup of a chain needs no other file. */
const CLICKHOUSE_LIST = '.backup';

export type BackupDirectory = ReturnType<typeof createBackupDirectory>;

/**
 * The files of backups: `<service id>/<backup id>/`, with a manifest. A folder gets its name when it is complete, so a
 * process that is killed leaves no backup that looks complete and is not.
 */
export function createBackupDirectory(directory: string) {
  const root = resolve(directory);

  function getFolder({ id, serviceId }: BackupId): string {
    // Ids become part of a path.
    if (!isUuid(id) || !isUuid(serviceId)) throw new AppError('bad_request', 'The id of a backup must be a UUID');
    return join(root, serviceId, id);
  }

  async function readManifest(backup: BackupId): Promise<Manifest> {
    const path = join(getFolder(backup), MANIFEST);
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? damaged(backup.id, `${path} is missing`) : error;
    });
    try {
      return JSON.parse(text);
    } catch {
      throw damaged(backup.id, `${path} is not JSON`);
    }
  }

  return {
    readManifest,

    /** Takes the files that ClickHouse has written to `from`, checks them where they are now, and removes `from`. */
    async add(backup: BackupId & Pick<Backup, 'baseId'>, from: string, signal: AbortSignal): Promise<Manifest> {
      const folder = getFolder(backup);
      const partial = `${folder}${PARTIAL}`;
      const files = join(partial, FILES);
      await mkdir(partial, { recursive: true, mode: 0o700 });
      const manifest = await createManifest(from, backup, signal);
      const isMoved = await rename(from, files).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'EXDEV') return false;
          throw error;
        },
      );
      if (!isMoved) await copyFiles(manifest, from, files, signal);
      await checkFiles(manifest, files, signal);
      await writeFile(join(partial, MANIFEST), JSON.stringify(manifest), { mode: 0o600 });
      await syncAll(partial);
      await rename(partial, folder);
      await sync(join(folder, '..'));
      if (!isMoved) await rm(from, { recursive: true, force: true });
      return manifest;
    },

    /** Throws if the files are not those of the manifest. */
    async check(backup: BackupId, signal: AbortSignal): Promise<void> {
      await checkFiles(await readManifest(backup), join(getFolder(backup), FILES), signal);
    },

    /** Copies the files to `to`, where ClickHouse reads them, and checks them meanwhile. */
    async copy(backup: BackupId, to: string, signal: AbortSignal, onBytes: (bytes: number) => void): Promise<void> {
      await copyFiles(await readManifest(backup), join(getFolder(backup), FILES), to, signal, onBytes);
    },

    /** ClickHouse's list of the files of a backup, as text. Undefined if there is none. */
    readList: (backup: BackupId): Promise<string | undefined> =>
      readFile(join(getFolder(backup), FILES, CLICKHOUSE_LIST), 'utf8').catch(() => undefined),

    /** Copies what the next backup of the chain needs to `to`. False if it is missing. */
    async copyList(backup: BackupId, to: string): Promise<boolean> {
      const list = await this.readList(backup);
      if (list === undefined) return false;
      await mkdir(to, { recursive: true, mode: 0o700 });
      await writeFile(join(to, CLICKHOUSE_LIST), list, { mode: 0o600 });
      return true;
    },

    /** Removes a backup, whether or not it is complete. */
    async remove(backup: BackupId): Promise<void> {
      const folder = getFolder(backup);
      const partial = `${folder}${PARTIAL}`;
      // A folder that is removed only in part must not look complete.
      await rename(folder, partial).catch(() => rm(folder, { recursive: true, force: true }));
      await rm(partial, { recursive: true, force: true });
      await removeIfEmpty(join(root, backup.serviceId));
    },
  };
}

async function removeIfEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder).catch(() => ['']);
  if (entries.length === 0) await rm(folder, { recursive: true, force: true });
}

/** So that a backup that is called done survives a power failure. */
async function syncAll(folder: string): Promise<void> {
  const files = await listFiles(folder);
  const folders = new Set(files.map((path) => path.slice(0, Math.max(0, path.lastIndexOf('/')))));
  for (const path of [...files, ...folders, '']) await sync(join(folder, path));
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
