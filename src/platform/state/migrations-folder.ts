import { findInPackage } from '../../kernel/package-files.ts';

/** Finds `migrations/state` next to `package.json`, from the source tree or the build. */
export function migrationsFolder(): string {
  const folder = findInPackage('migrations/state');
  if (folder === undefined) throw new Error('The folder migrations/state is missing from this installation');
  return folder;
}
