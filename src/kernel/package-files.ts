import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package, from the source tree or the build. */
export const PACKAGE_DIRECTORY = findPackageDirectory(dirname(fileURLToPath(import.meta.url)));

/** The path of a file or folder of this package; undefined if it does not exist. */
export function findInPackage(name: string): string | undefined {
  const path = join(PACKAGE_DIRECTORY, name);
  return existsSync(path) ? path : undefined;
}

function findPackageDirectory(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('The package.json of this installation is missing');
  return findPackageDirectory(parent);
}
