import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_DIRECTORY } from '../kernel/package-files.ts';

/** The version of this package. */
export const VERSION: string = JSON.parse(readFileSync(join(PACKAGE_DIRECTORY, 'package.json'), 'utf8')).version;
