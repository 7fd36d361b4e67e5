import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newUuid } from '../kernel/ids.ts';

const FILE = 'directory-id';

/**
 * Identifies a data directory, whatever its path and the name of its machine. The inode distinguishes a copy from the
 * original.
 */
export function readDirectoryId(dataDirectory: string): string {
  const path = join(dataDirectory, FILE);
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, `${newUuid()}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return `${readFileSync(path, 'utf8').trim()}-${statSync(path).ino}`;
}
