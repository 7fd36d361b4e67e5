import { createHash } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** `store/<prefix>/<table>/<part>` and `data/<database>/<table>/<part>`. A part never changes; its name does. */
const PART_DEPTH = 4;

/** Written by ClickHouse itself, also without queries of users. */
const IGNORED = new Set(['backups', 'data/system', 'metadata/system', 'metadata/system.sql', 'status', 'tmp']);

/**
 * Identifies the data in the directory of a service, whether or not it runs: another value means that it may have changed.
 * Merges also change it.
 */
export async function readFingerprint(data: string): Promise<string> {
  const hash = createHash('sha256');
  const add = async (path: string, depth: number): Promise<void> => {
    const entries = await readdir(join(data, path), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      // A merge removes parts at any time.
      if (error.code === 'ENOENT' && path !== '') return [];
      throw error;
    });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const child = path === '' ? entry.name : `${path}/${entry.name}`;
      if (IGNORED.has(child) || entry.name.startsWith('tmp_')) continue;
      if (entry.isFile()) {
        const stats = await lstat(join(data, child)).catch(() => undefined);
        hash.update(`${child}\0${stats?.size}\0${stats?.mtimeMs}\n`);
      } else hash.update(`${child}\n`);
      if (entry.isDirectory() && depth < PART_DEPTH) await add(child, depth + 1);
    }
  };
  await add('', 1);
  return hash.digest('hex');
}
