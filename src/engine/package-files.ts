import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file or folder of the package, from wherever this code was built to; undefined when it is not there. */
export function findInPackage(name: string): string | undefined {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const path = join(folder, name);
    if (existsSync(join(folder, 'package.json'))) return existsSync(path) ? path : undefined;
    if (folder === dirname(folder)) return undefined;
  }
}
