import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';

const FILE = 'directory-id';

/**
 * Identifies a data directory, whatever its path and the name of its machine. The inode distinguishes a copy from the
 * original.
 */
export const readDirectoryId = (dataDirectory: string): string =>
  `${readDirectoryName(dataDirectory)}-${statSync(join(dataDirectory, FILE)).ino}`;

/** The same for a directory and its copies. */
export function readDirectoryName(dataDirectory: string): string {
  const path = join(dataDirectory, FILE);
  try {
    if (!existsSync(path)) create(path, dataDirectory);
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    const text = `The data directory ${dataDirectory} cannot be used: ${(error as Error).message}`;
    throw new AppError('unavailable', text, { cause: error });
  }
}

/** Makes a data directory take the place of another one. */
export function adoptDirectoryName(dataDirectory: string, name: string): void {
  const path = join(dataDirectory, FILE);
  if (!existsSync(path)) create(path, dataDirectory, name);
  if (readDirectoryName(dataDirectory) !== name)
    throw new AppError(
      'conflict',
      `${dataDirectory} has services of its own; restore services to an empty directory, or to the one that they were in`,
    );
}

function create(path: string, dataDirectory: string, name: string = newUuid()): void {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, `${name}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    // Another process has created it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
