import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Finds a file or folder of this package from the source tree or the build; undefined if it does not exist. */
export function findInPackage(name: string): string | undefined {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const path = join(folder, name);
    if (existsSync(join(folder, 'package.json'))) return existsSync(path) ? path : undefined;
    if (folder === dirname(folder)) return undefined;
  }
}
