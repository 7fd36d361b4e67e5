import { readFileSync } from 'node:fs';

/** The version of this package. The path is the same from `src/` and from `dist/`. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
