import { opendir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** Of entries that are looked at, also those that `isWanted` rejects. */
const MAX_ENTRIES = 10_000;
const MAX_DEPTH = 16;

export interface WalkedFolder {
  /** The folder and those below it. */
  folders: string[];
  /** Relative to the folder, with `/`, in order. */
  files: WalkedFile[];
}

/** A file, or the reason why it must not be read. */
interface WalkedFile {
  path: string;
  problem: string | undefined;
}

/** Entries whose names start with a dot are hidden: `..data` of a mounted Kubernetes volume, and copies of editors. */
const isHidden = (name: string): boolean => name.startsWith('.');

/**
 * Lists the files below a folder. Links are followed if they lead to a place in the folder, and not in circles. Throws if
 * there are too many entries or levels.
 */
export async function walkFolder(directory: string, isWanted: (path: string) => boolean): Promise<WalkedFolder> {
  const root = await realpath(directory);
  const isInside = (path: string): boolean => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
  const folders: string[] = [];
  const files: WalkedFile[] = [];
  let entries = 0;

  /** `above`: the real paths from the root to this folder. */
  async function visit(path: string, real: string, above: readonly string[]): Promise<void> {
    if (above.length > MAX_DEPTH) throw new Error(`it has more than ${MAX_DEPTH} levels of folders`);
    folders.push(join(directory, path));
    for await (const entry of await opendir(real)) {
      if (++entries > MAX_ENTRIES) throw new Error(`it has more than ${MAX_ENTRIES} files and folders`);
      if (isHidden(entry.name)) continue;
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) await visit(inner, join(real, entry.name), [...above, real]);
      else if (entry.isSymbolicLink()) await follow(inner, join(real, entry.name), [...above, real]);
      else add(inner, entry.isFile() ? undefined : NO_FILE);
    }
  }

  function add(path: string, problem: string | undefined): void {
    if (isWanted(path)) files.push({ path, problem });
  }

  async function follow(path: string, link: string, above: readonly string[]): Promise<void> {
    const real = await realpath(link).catch(() => undefined);
    if (real === undefined) return add(path, BROKEN);
    if (!isInside(real)) return add(path, OUTSIDE);
    const target = await stat(real).catch(() => undefined);
    if (!target?.isDirectory()) return add(path, undefined);
    if (!above.includes(real)) await visit(path, real, above);
  }

  await visit('', root, []);
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { folders, files };
}

const NO_FILE = 'It is not a regular file';
const BROKEN = 'It is a link that leads nowhere';
const OUTSIDE = 'It is a link to a place outside of the folder';
