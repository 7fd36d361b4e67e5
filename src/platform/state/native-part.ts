import { createRequire } from 'node:module';
import { AppError } from '../../kernel/errors.ts';

/**
 * Loads the native part of libSQL, which has a separate package for each platform and may not be installed. With
 * `require`: two modules of libSQL load it, and after an `import` Node would end the process because of the second one.
 */
export function loadNativePart(): void {
  try {
    createRequire(import.meta.url)('libsql');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'MODULE_NOT_FOUND') throw error;
    const [, name = 'libsql'] = /'([^']+)'/.exec(message) ?? [];
    throw new AppError(
      'unavailable',
      `The embedded store cannot run: the package ${name} is not installed; run npm install without --omit=optional, or set --database-url to the URL of a PostgreSQL database`,
      { cause: error },
    );
  }
}
