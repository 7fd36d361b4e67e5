import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What each role may do. The engine's one user has no right but to become one of them. */
const ROLES = {
  reader: [
    'GRANT SELECT ON pilothouse.*',
    'GRANT SELECT ON system.columns',
    'GRANT SELECT ON system.one',
    'GRANT SELECT ON system.numbers',
  ],
  writer: ['GRANT ALL ON pilothouse.*', 'GRANT SELECT ON system.columns', 'GRANT SELECT ON system.parts'],
  stopper: ['GRANT SELECT ON system.processes', 'GRANT KILL QUERY ON *.*'],
};

export type Role = keyof typeof ROLES;

const MEBIBYTE = 2 ** 20;

/** Values stand in the text that we hand over, so it may be longer than a statement usually is. */
const MAX_QUERY_BYTES = 16 * MEBIBYTE;

/** Caches that the engine would let grow to gigabytes, in bytes. */
const CACHES = {
  mark_cache_size: 64 * MEBIBYTE,
  primary_index_cache_size: 64 * MEBIBYTE,
  index_mark_cache_size: 16 * MEBIBYTE,
  uncompressed_cache_size: 0,
  index_uncompressed_cache_size: 0,
  query_condition_cache_size: 16 * MEBIBYTE,
};

/** By default the engine leaves a thread out for each free GiB it lacks, and is down to one where it may have 2 GiB. */
const FREE_BYTES_PER_THREAD = 128 * MEBIBYTE;

/** Parts of a table are merged about so many at a time (usually 5): rows are then rewritten half as often, which is most of what storing them costs. */
const MERGE_SELECTOR_BASE = 12;

const element = (name: string, content: string | number) => `<${name}>${content}</${name}>`;
const grantElements = (queries: string[]) =>
  element('grants', queries.map((query) => element('query', query)).join(''));
const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Writes the engine's configuration beside its data and answers the arguments that every connection needs. */
export function writeConfiguration(directory: string, serverMemoryBytes: number): string[] {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, 'engine.xml');
  const roles = Object.entries(ROLES).map(([name, queries]) => element(name, grantElements(queries)));
  const user = element(
    'default',
    element('password', '') +
      element('networks', element('ip', '::/0')) +
      element('profile', 'default') +
      element('quota', 'default') +
      grantElements(Object.keys(ROLES).map((name) => `GRANT ${name}`)),
  );
  const settings =
    element('max_query_size', MAX_QUERY_BYTES) +
    element('max_threads_min_free_memory_per_thread', FREE_BYTES_PER_THREAD);
  const parts = [
    element('users_config', escapeXml(path)),
    element('max_server_memory_usage', serverMemoryBytes),
    ...Object.entries(CACHES).map(([name, bytes]) => element(name, bytes)),
    element('profiles', element('default', settings)),
    element('quotas', element('default', '')),
    element('merge_tree', element('merge_selector_base', MERGE_SELECTOR_BASE)),
    element('users', user),
    element('roles', roles.join('')),
  ];
  writeFileSync(path, `${element('clickhouse', `\n${parts.join('\n')}\n`)}\n`, { mode: 0o600 });
  return [`--config-file=${path}`, `--max_server_memory_usage=${serverMemoryBytes}`];
}
