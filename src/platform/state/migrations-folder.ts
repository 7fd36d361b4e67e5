import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Finds `migrations/state` next to `package.json`, from the source tree or the build. */
export function migrationsFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'migrations/state'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('The folder migrations/state is missing from this installation');
    folder = parent;
  }
  return join(folder, 'migrations/state');
}
