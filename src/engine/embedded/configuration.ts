import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The privileges of each role. The engine's only user has no privileges except to assume one of them. */
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

/** Parameter values are part of the statement text, so it may be long. */
const MAX_QUERY_BYTES = 16 * MEBIBYTE;

/** Cache sizes in bytes; by default these caches grow to gigabytes. */
const CACHES = {
  mark_cache_size: 64 * MEBIBYTE,
  primary_index_cache_size: 64 * MEBIBYTE,
  index_mark_cache_size: 16 * MEBIBYTE,
  uncompressed_cache_size: 0,
  index_uncompressed_cache_size: 0,
  query_condition_cache_size: 16 * MEBIBYTE,
};

/** By default, the engine drops a thread for each GiB of free memory it lacks; at a limit of 2 GiB, one thread remains. */
const FREE_BYTES_PER_THREAD = 128 * MEBIBYTE;

/** How many parts of a table are merged at a time (default 5). Rows are rewritten half as often, and rewriting is most of the cost of an insert. */
const MERGE_SELECTOR_BASE = 12;

const element = (name: string, content: string | number) => `<${name}>${content}</${name}>`;
const grantElements = (queries: string[]) =>
  element('grants', queries.map((query) => element('query', query)).join(''));
const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Writes the engine's configuration next to its data and returns the arguments that every connection needs. */
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
