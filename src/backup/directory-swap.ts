import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Replaces the directory of the embedded engine at once, after the new one is complete. */
export interface DirectorySwap {
  /** The data directory in which the new engine is created. */
  directory: string;
  /** Creates the directory; removes that of an earlier attempt. */
  prepare(): void;
  /** Puts the new engine in place. May be called again. */
  apply(): void;
  /** Puts the old engine back and removes the new one. */
  undo(): void;
  /** Removes the old engine. */
  finish(): void;
}

export function createDirectorySwap(dataDirectory: string): DirectorySwap {
  const directory = join(dataDirectory, 'restoring');
  const current = join(dataDirectory, 'engine');
  const next = join(directory, 'engine');
  const previous = join(directory, 'replaced');
  let isApplied = false;

  const remove = (path: string) => rmSync(path, { recursive: true, force: true });
  const move = (from: string, to: string) => {
    if (existsSync(from)) renameSync(from, to);
  };

  return {
    directory,
    prepare() {
      // The process was killed between the two renames of `apply`.
      if (!existsSync(current)) move(previous, current);
      remove(directory);
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    },
    apply() {
      if (isApplied) return;
      isApplied = true;
      move(current, previous);
      move(next, current);
    },
    undo() {
      if (isApplied) {
        remove(current);
        move(previous, current);
      }
      remove(directory);
    },
    finish: () => remove(directory),
  };
}
