import { constants, existsSync } from 'node:fs';
import { access, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { readBoundedText } from '../../../kernel/files/read-file.ts';
import {
  checkContents,
  checkFiles,
  copyFiles,
  createManifest,
  damaged,
  linkFile,
  type Manifest,
  type ManifestFile,
  parseManifest,
  readChunks,
  syncAll,
  syncPath,
} from './manifest.ts';
import { getStoredPath, NAMES, type Storage, type StoredBackup } from './storage.ts';

/** Of a manifest and of ClickHouse's list of files: about a million files. */
const MAX_LIST_BYTES = 256 * 2 ** 20;

/** A backup that is not complete. */
const PARTIAL = '.partial';

/** Finds damage on disks. Against changes by a person, a checksum beside the files would be of no use. */
const CHECKSUM = 'crc32';

/**
 * Backups in a directory: `<service id>/<backup id>/`. A folder gets its name when it is complete, so a process that is
 * killed leaves no backup that looks complete and is not.
 */
export function createBackupDirectory(directory: string): Storage {
  const root = resolve(directory);
  const getFolder = (backup: StoredBackup): string => join(root, getStoredPath(backup));

  async function readManifest(backup: StoredBackup): Promise<Manifest> {
    const path = join(getFolder(backup), NAMES.manifest);
    const text = await readBoundedText(path, MAX_LIST_BYTES).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? damaged(backup.id, `${path} is missing`) : error;
    });
    return parseManifest(backup.id, text, path);
  }

  /** Moves the files, or copies them from another file system and checks the copies. */
  async function take(backup: StoredBackup, from: string, to: string, signal: AbortSignal): Promise<Manifest> {
    const manifest = await createManifest(from, backup, CHECKSUM, signal);
    try {
      await rename(from, to);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
      await copyFiles(manifest, { to, read: ({ path }) => readChunks(join(from, path)), signal });
      await checkFiles(manifest, to, signal);
    }
    return manifest;
  }

  return {
    location: undefined,

    async add(backup, from, signal) {
      const folder = getFolder(backup);
      const partial = `${folder}${PARTIAL}`;
      const files = join(partial, NAMES.files);
      if (existsSync(folder)) {
        const manifest = await readManifest(backup);
        await checkFiles(manifest, join(folder, NAMES.files), signal);
        await rm(from, { recursive: true, force: true });
        return manifest;
      }
      // Files that an interrupted attempt has moved are no longer in `from`; copies of them may be incomplete.
      const isMoved = !existsSync(from) && existsSync(files);
      if (!isMoved) await rm(partial, { recursive: true, force: true });
      await mkdir(partial, { recursive: true, mode: 0o700 });
      const manifest = isMoved
        ? await createManifest(files, backup, CHECKSUM, signal)
        : await take(backup, from, files, signal);
      await writeFile(join(partial, NAMES.manifest), JSON.stringify(manifest), { mode: 0o600 });
      await syncAll(partial);
      await rename(partial, folder);
      await syncPath(dirname(folder));
      await rm(from, { recursive: true, force: true });
      return manifest;
    },

    async copy(backup, to, { signal, onBytes }) {
      const from = join(getFolder(backup), NAMES.files);
      const read = ({ path }: { path: string }) => readChunks(join(from, path));
      await copyFiles(await readManifest(backup), { to, read, signal, onBytes });
    },

    async provide(backup, to, { signal, onBytes }) {
      const from = join(getFolder(backup), NAMES.files);
      const manifest = await readManifest(backup);
      const linked: ManifestFile[] = [];
      const copied: ManifestFile[] = [];
      for (const file of manifest.files) {
        signal.throwIfAborted();
        // The list may be changed for the restore.
        const isLinked = file.path !== NAMES.list && (await linkFile(backup.id, from, to, file));
        (isLinked ? linked : copied).push(file);
        if (isLinked) onBytes?.(file.bytes);
      }
      const read = ({ path }: { path: string }) => readChunks(join(from, path));
      await copyFiles({ ...manifest, files: copied }, { to, read, signal, onBytes });
      return async () => {
        for (const file of linked) await checkContents(backup.id, file, read(file), signal);
      };
    },

    readList: (backup) =>
      readBoundedText(join(getFolder(backup), NAMES.files, NAMES.list), MAX_LIST_BYTES).catch(() => undefined),

    async remove(backup) {
      const folder = getFolder(backup);
      const partial = `${folder}${PARTIAL}`;
      // A folder that is removed only in part must not look complete.
      await rename(folder, partial).catch(() => rm(folder, { recursive: true, force: true }));
      await rm(partial, { recursive: true, force: true });
      await removeIfEmpty(dirname(folder));
    },

    async findObstacle() {
      // Created with the first backup.
      let existing = root;
      while (!existsSync(existing)) existing = dirname(existing);
      return access(existing, constants.R_OK | constants.W_OK).then(
        () => undefined,
        (error: Error) => `${root} cannot be written: ${error.message}`,
      );
    },
  };
}

async function removeIfEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder).catch(() => ['']);
  if (entries.length === 0) await rm(folder, { recursive: true, force: true });
}
