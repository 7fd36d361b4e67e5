import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The elements of a ClickHouse configuration file. */
export interface Elements {
  [name: string]: string | number | Elements | (string | number)[];
}

/** A user of the listener, in addition to `default`, which ClickHouse itself needs. */
export interface User {
  name: string;
  password: string;
  grants: readonly string[];
  /** The settings of the user's profile. */
  settings?: Elements;
  /** The interval of the user's quota, with its limits. */
  quota?: Elements;
}

export interface Configuration {
  /** Exists only during a start. It has no secrets: queries that run during the start could read it. */
  folder: string;
  /** The only folder that the process may write to. */
  data: string;
  /** Errors of ClickHouse, in a file below `data`. Without it, they go to standard error. */
  logFile?: string | undefined;
  /** The listener answers only requests that have this value in `SECRET_HEADER`; without it, all requests. */
  secret?: string | undefined;
  memoryBytes: number;
  users: readonly User[];
  /** Further elements of the configuration. */
  server?: Elements;
}

/** Of the loopback address. */
export interface Ports {
  port: number;
  /** Of the native protocol. */
  nativePort: number | undefined;
}

/** A secret header or password for one start. */
export const newStartSecret = (): string => randomBytes(32).toString('hex');

/** The function getClientHTTPHeader does not return headers with this prefix, so queries cannot read the secret. */
export const SECRET_HEADER = 'X-ClickHouse-Pilothouse';

/** Where the configuration has the value of the header. */
const SECRET_PATH = `http_handlers.rule.headers.${SECRET_HEADER}`;

/**
 * The user that ClickHouse runs its own statements as. It must not have a password. ClickHouse's own session is the only
 * one that it may have, so that no client can be this user, neither over HTTP nor over the native protocol.
 */
const DEFAULT_USER: User = {
  name: 'default',
  password: '',
  settings: { max_sessions_for_user: 1 },
  grants: ['GRANT SYSTEM LISTEN ON *.*', 'GRANT SELECT ON system.numbers'],
};

const MEBIBYTE = 2 ** 20;

/**
 * How often ClickHouse compares its resident memory with its limit and returns freed memory to the system (by default
 * every 100 ms). Freed memory counts as used until then, and with a limit below 1 GiB a query fills that within 100 ms:
 * all queries failed for a moment, however small.
 */
const MEMORY_CHECK_MS = 20;

/** By default, a query drops a thread for each GiB of free memory that is missing. */
const FREE_BYTES_PER_THREAD = 128 * MEBIBYTE;

/** ClickHouse keeps one older file of this size. */
const MAX_LOG_BYTES = MEBIBYTE;

/**
 * Writes the configuration and returns ClickHouse's arguments. They contain the secret and must stay in memory: a table
 * that is loaded during the start can run a query that reads every file of the process.
 */
export function writeConfiguration(configuration: Configuration, ports: Ports): string[] {
  removeConfiguration(configuration);
  mkdirSync(configuration.folder, { recursive: true, mode: 0o700 });
  const configPath = join(configuration.folder, 'config.xml');
  const usersPath = join(configuration.folder, 'users.xml');
  writeFileSync(configPath, render(listServerElements(configuration, ports, usersPath)), { mode: 0o600 });
  writeFileSync(usersPath, render(listUserElements(configuration.users)), { mode: 0o600 });
  return [
    `--config-file=${configPath}`,
    // clickhouse-local ignores the level in the configuration.
    '--log-level=error',
    ...(configuration.secret === undefined ? [] : ['--', `--${SECRET_PATH}=${configuration.secret}`]),
  ];
}

export function removeConfiguration({ folder }: Configuration): void {
  rmSync(folder, { recursive: true, force: true });
}

function listServerElements(configuration: Configuration, { port, nativePort }: Ports, usersPath: string): Elements {
  const { data, logFile, secret, memoryBytes, server } = configuration;
  return {
    users_config: usersPath,
    path: `${data}/`,
    listen_host: '127.0.0.1',
    http_port: port,
    ...(nativePort !== undefined && { tcp_port: nativePort }),
    timezone: 'UTC',
    max_server_memory_usage: memoryBytes,
    // By default these caches grow to gigabytes.
    uncompressed_cache_size: 0,
    index_uncompressed_cache_size: 0,
    // The control group also has other processes, and their memory would count as memory of this one.
    memory_worker_use_cgroup: 0,
    memory_worker_period_ms: MEMORY_CHECK_MS,
    logger: logFile === undefined ? { console: 1 } : { log: logFile, size: MAX_LOG_BYTES, count: 1 },
    ...server,
    ...(secret !== undefined && { http_handlers: HANDLERS }),
  };
}

/**
 * The only rule; an argument adds the header that it needs. Without the header every request is answered with 404, also
 * /ping and the built-in pages.
 */
const HANDLERS: Elements = {
  rule: { handler: { type: 'dynamic_query_handler', query_param_name: 'query' } },
};

const listUserElements = (users: readonly User[]): Elements => ({
  profiles: Object.fromEntries(
    // All users have the settings of the profile `default`, so the user of that name has another one.
    [{ profile: 'default', settings: {} }, ...[DEFAULT_USER, ...users].map(toProfile)].map(({ profile, settings }) => [
      profile,
      { max_threads_min_free_memory_per_thread: FREE_BYTES_PER_THREAD, ...settings },
    ]),
  ),
  quotas: {
    default: '',
    ...Object.fromEntries(users.flatMap(({ name, quota }) => (quota ? [[name, { interval: quota }]] : []))),
  },
  users: Object.fromEntries([DEFAULT_USER, ...users].map((user) => [user.name, toUserElements(user)])),
});

const toProfile = ({ name, settings }: User) => ({ profile: getProfile(name), settings });

const getProfile = (user: string): string => (user === DEFAULT_USER.name ? 'default_user' : user);

const toUserElements = ({ name, password, grants, quota }: User): Elements => ({
  ...(password === '' ? { password } : { password_sha256_hex: createHash('sha256').update(password).digest('hex') }),
  // ClickHouse does not start if `default` is limited to addresses. The listener is on the loopback address only.
  networks: { ip: '::/0' },
  profile: getProfile(name),
  quota: quota ? name : 'default',
  grants: { query: [...grants] },
});

const render = (elements: Elements): string => `<clickhouse>${renderElements(elements)}</clickhouse>\n`;

function renderElements(elements: Elements): string {
  return Object.entries(elements)
    .flatMap(([name, content]) => {
      if (Array.isArray(content)) return content.map((item) => renderElement(name, escapeXml(String(item))));
      if (typeof content === 'object') return renderElement(name, renderElements(content));
      return renderElement(name, escapeXml(String(content)));
    })
    .join('');
}

const renderElement = (name: string, content: string): string => `<${name}>${content}</${name}>`;

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
