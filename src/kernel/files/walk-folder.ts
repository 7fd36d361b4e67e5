import { opendir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** Of entries that are looked at, also those that `isWanted` rejects. */
const MAX_ENTRIES = 10_000;
const MAX_DEPTH = 16;

interface WalkedFolder {
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
  const walk = new Walk(directory, await realpath(directory), isWanted);
  await walk.visit({ path: '', real: walk.root, above: [] });
  walk.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return walk;
}

/** `above`: the real paths of the folders from the root to the one before. */
interface Place {
  path: string;
  real: string;
  above: readonly string[];
}

class Walk implements WalkedFolder {
  readonly folders: string[] = [];
  readonly files: WalkedFile[] = [];
  readonly root: string;
  private readonly directory: string;
  private readonly isWanted: (path: string) => boolean;
  private entries = 0;

  constructor(directory: string, root: string, isWanted: (path: string) => boolean) {
    this.directory = directory;
    this.root = root;
    this.isWanted = isWanted;
  }

  async visit({ path, real, above }: Place): Promise<void> {
    if (above.length > MAX_DEPTH) throw new Error(`it has more than ${MAX_DEPTH} levels of folders`);
    this.folders.push(join(this.directory, path));
    for await (const entry of await opendir(real)) {
      if (++this.entries > MAX_ENTRIES) throw new Error(`it has more than ${MAX_ENTRIES} files and folders`);
      if (isHidden(entry.name)) continue;
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      const place = { path: inner, real: join(real, entry.name), above: [...above, real] };
      if (entry.isDirectory()) await this.visit(place);
      else if (entry.isSymbolicLink()) await this.follow(place);
      else this.add(inner, entry.isFile() ? undefined : NO_FILE);
    }
  }

  private add(path: string, problem: string | undefined): void {
    if (this.isWanted(path)) this.files.push({ path, problem });
  }

  private async follow({ path, real: link, above }: Place): Promise<void> {
    const real = await realpath(link).catch(() => undefined);
    if (real === undefined) return this.add(path, BROKEN);
    if (!this.isInside(real)) return this.add(path, OUTSIDE);
    const target = await stat(real).catch(() => undefined);
    if (!target?.isDirectory()) return this.add(path, undefined);
    if (!above.includes(real)) await this.visit({ path, real, above });
  }

  private isInside(path: string): boolean {
    return path === this.root || path.startsWith(this.root.endsWith(sep) ? this.root : this.root + sep);
  }
}

const NO_FILE = 'It is not a regular file';
const BROKEN = 'It is a link that leads nowhere';
const OUTSIDE = 'It is a link to a place outside of the folder';
