import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceDirectory } from './directory.ts';

export interface Secrets {
  /** Every request needs it in the header. */
  header: string;
  password: string;
}

interface Options {
  directory: ServiceDirectory;
  port: number;
  memoryMiB: number;
  secrets: Secrets;
}

/** The function getClientHTTPHeader does not return headers with this prefix, so queries cannot read the secret. */
export const SECRET_HEADER = 'X-ClickHouse-Pilothouse';

/** Queries of clients run as this user. ClickHouse itself uses `default`, which must not have a password. */
export const OWNER = 'owner';

/** Everything except what would end the listener or change its users. The owner can still stop its own queries. */
const OWNER_GRANTS = [
  'GRANT ALL ON *.*',
  'REVOKE SYSTEM SHUTDOWN, SYSTEM LISTEN, SYSTEM RELOAD USERS, KILL QUERY ON *.*',
];
const DEFAULT_GRANTS = ['GRANT SYSTEM LISTEN ON *.*', 'GRANT SELECT ON system.numbers'];

const MEBIBYTE = 2 ** 20;

/** By default, a query drops a thread for each GiB of free memory that is missing. */
const FREE_BYTES_PER_THREAD = 128 * MEBIBYTE;

const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
/** `content` is text, or elements. */
/** ClickHouse keeps one older file of this size. */
const MAX_LOG_BYTES = MEBIBYTE;

const element = (name: string, content: string | number | string[]): string =>
  `<${name}>${Array.isArray(content) ? content.join('') : escapeXml(String(content))}</${name}>`;

/**
 * Writes the configuration, which contains the secrets of this start, and returns ClickHouse's arguments. Remove it as
 * soon as the service answers: queries can read the folder.
 */
export function writeConfiguration({ directory, port, memoryMiB, secrets }: Options): string[] {
  removeConfiguration(directory);
  mkdirSync(directory.configuration, { mode: 0o700 });
  const configPath = join(directory.configuration, 'config.xml');
  const usersPath = join(directory.configuration, 'users.xml');
  writeFileSync(configPath, renderConfig({ directory, port, memoryMiB, secrets }, usersPath), { mode: 0o600 });
  writeFileSync(usersPath, renderUsers(secrets.password), { mode: 0o600 });
  return [
    `--config-file=${configPath}`,
    // clickhouse-local ignores the level in the configuration.
    '--log-level=error',
    '--query',
    // The second query keeps the program running. It may sleep 3 seconds per block.
    'SYSTEM START LISTEN HTTP; SELECT sleepEachRow(3) FROM system.numbers SETTINGS max_block_size = 1 FORMAT Null',
  ];
}

export function removeConfiguration({ configuration }: ServiceDirectory): void {
  rmSync(configuration, { recursive: true, force: true });
}

function renderConfig({ directory, port, memoryMiB, secrets }: Options, usersPath: string): string {
  const memoryBytes = memoryMiB * MEBIBYTE;
  const handler = element('handler', [element('type', 'dynamic_query_handler'), element('query_param_name', 'query')]);
  // The only rule: without the header every request is answered with 404, also /ping and the built-in pages.
  const rule = element('rule', [element('headers', [element(SECRET_HEADER, secrets.header)]), handler]);
  return element('clickhouse', [
    element('users_config', usersPath),
    element('path', `${directory.data}/`),
    element('listen_host', '127.0.0.1'),
    element('http_port', port),
    element('timezone', 'UTC'),
    element('max_server_memory_usage', memoryBytes),
    // By default these caches grow to gigabytes.
    element('mark_cache_size', Math.floor(memoryBytes / 16)),
    element('primary_index_cache_size', Math.floor(memoryBytes / 16)),
    element('index_mark_cache_size', Math.floor(memoryBytes / 64)),
    element('query_condition_cache_size', Math.floor(memoryBytes / 64)),
    element('uncompressed_cache_size', 0),
    element('index_uncompressed_cache_size', 0),
    element('backups', [element('allowed_path', join(directory.data, 'backups/'))]),
    element('http_handlers', [rule]),
    element('logger', [element('log', directory.log), element('size', MAX_LOG_BYTES), element('count', 1)]),
  ]);
}

function renderUsers(password: string): string {
  const hash = createHash('sha256').update(password).digest('hex');
  const user = (name: string, credential: string, grants: string[]) =>
    element(name, [
      credential,
      // ClickHouse does not start if `default` is limited to addresses. The listener is on the loopback address only.
      element('networks', [element('ip', '::/0')]),
      element('profile', 'default'),
      element('quota', 'default'),
      element(
        'grants',
        grants.map((grant) => element('query', grant)),
      ),
    ]);
  return element('clickhouse', [
    element('profiles', [
      element('default', [element('max_threads_min_free_memory_per_thread', FREE_BYTES_PER_THREAD)]),
    ]),
    element('quotas', [element('default', '')]),
    element('users', [
      user('default', element('password', ''), DEFAULT_GRANTS),
      user(OWNER, element('password_sha256_hex', hash), OWNER_GRANTS),
    ]),
  ]);
}
