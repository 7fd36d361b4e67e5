import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `migrations/state` beside `package.json`, from wherever this code was built to. */
export function migrationsFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'migrations/state'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('The folder migrations/state is missing from this installation');
    folder = parent;
  }
  return join(folder, 'migrations/state');
}
