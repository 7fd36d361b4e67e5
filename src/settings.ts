import type { Config } from './config.ts';
import { parseBasePath } from './http/base-path.ts';
import type { RateLimit } from './http/rate-limit.ts';
import { type Network, parseNetwork } from './kernel/addresses.ts';
import { isUuid } from './kernel/ids.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** One setting: how it is spelled as a flag and in the environment, what it means, and how its text becomes a value. */
export interface Setting<T = unknown> {
  flag: string;
  argument: string;
  variable: string;
  help: string;
  fallback?: string;
  /** May also be given as the name of a file that holds it, in `<variable>_FILE`. */
  isSecret?: boolean;
  /** Undefined when the text is not valid. */
  parse(text: string): T | undefined;
  rule: string;
}

const wholeNumber = (min: number, max: number) => (text: string) => {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
};

const anyText = (text: string) => text || undefined;

const postgresUrl = (text: string) => (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? text : undefined);

const httpUrl = (text: string) => (/^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined);

const BYTES = { MiB: 2 ** 20, GiB: 2 ** 30 };
const LEAST_BYTES = 768 * BYTES.MiB;

/** `1GiB`, `1536MiB`, in bytes. */
function parseBytes(text: string): number | undefined {
  const [, number, unit] = /^([1-9]\d{0,6})(MiB|GiB)$/.exec(text) ?? [];
  const bytes = Number(number) * BYTES[unit as keyof typeof BYTES];
  return bytes >= LEAST_BYTES ? bytes : undefined;
}

/** `1000/10s`; `off` is no limit, written as zero requests. */
function parseRate(text: string): RateLimit | undefined {
  if (text === 'off') return { requests: 0, windowSeconds: 0 };
  const [, requests, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,5})s$/.exec(text) ?? [];
  return requests && seconds ? { requests: Number(requests), windowSeconds: Number(seconds) } : undefined;
}

function parseNetworks(text: string): Network[] | undefined {
  const networks = text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => parseNetwork(part.trim()));
  return networks.every((network) => network !== undefined) ? networks : undefined;
}

/** The engine's own tables are never open: they tell of everybody. */
function parseTables(text: string): string[] | undefined {
  const tables = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const isTable = (name: string) =>
    /^[A-Za-z_]\w{0,63}\.[A-Za-z_]\w{0,127}$/.test(name) && !/^(system|information_schema)\./i.test(name);
  return tables.every(isTable) ? tables : undefined;
}

export const SETTINGS = {
  port: {
    flag: '--port',
    argument: '<number>',
    variable: 'PILOTHOUSE_PORT',
    help: 'port to listen on; 0 picks a free one',
    fallback: '8080',
    parse: wholeNumber(0, 65535),
    rule: 'must be a port, 0 to 65535',
  },
  host: {
    flag: '--host',
    argument: '<address>',
    variable: 'PILOTHOUSE_HOST',
    help: 'address to listen on',
    fallback: '127.0.0.1',
    parse: anyText,
    rule: 'must not be empty',
  },
  dashboardPort: {
    flag: '--dashboard-port',
    argument: '<number>',
    variable: 'PILOTHOUSE_DASHBOARD_PORT',
    help: 'a port of its own for the dashboard interface; 0 picks a free one',
    parse: wholeNumber(0, 65535),
    rule: 'must be a port, 0 to 65535',
  },
  basePath: {
    flag: '--base-path',
    argument: '<path>',
    variable: 'PILOTHOUSE_BASE_PATH',
    help: 'what stands before every path, for a proxy that serves other things beside this',
    fallback: '',
    parse: parseBasePath,
    rule: 'must look like /pilothouse, of letters, digits, dots, dashes, underscores and tildes',
  },
  dataDirectory: {
    flag: '--data',
    argument: '<directory>',
    variable: 'PILOTHOUSE_DATA',
    help: 'where the embedded store keeps its files',
    fallback: '.pilothouse',
    parse: anyText,
    rule: 'must not be empty',
  },
  databaseUrl: {
    flag: '--database-url',
    argument: '<url>',
    variable: 'PILOTHOUSE_DATABASE_URL',
    help: 'PostgreSQL 15 or later instead of the embedded store',
    isSecret: true,
    parse: postgresUrl,
    rule: 'must look like postgres://user:password@host:5432/database',
  },
  clickhouseUrl: {
    flag: '--clickhouse-url',
    argument: '<url>',
    variable: 'PILOTHOUSE_CLICKHOUSE_URL',
    help: 'a ClickHouse server instead of the embedded engine',
    isSecret: true,
    parse: httpUrl,
    rule: 'must look like http://user:password@host:8123/database',
  },
  engineMemoryBytes: {
    flag: '--engine-memory',
    argument: '<size>',
    variable: 'PILOTHOUSE_ENGINE_MEMORY',
    help: 'what the embedded engine may use, such as 2GiB (default: a quarter of the machine, 1 to 8 GiB)',
    parse: parseBytes,
    rule: 'must look like 2GiB or 1536MiB, and be at least 768MiB',
  },
  openTables: {
    flag: '--open-tables',
    argument: '<table,…>',
    variable: 'PILOTHOUSE_OPEN_TABLES',
    help: 'tables of the engine without an organization column that every organization may read',
    fallback: '',
    parse: parseTables,
    rule: 'must be database.table names, separated by commas',
  },
  fleetFile: {
    flag: '--fleet',
    argument: '<file>',
    variable: 'PILOTHOUSE_FLEET',
    help: 'a fleet file to apply before serving',
    parse: anyText,
    rule: 'must not be empty',
  },
  dashboardsDirectory: {
    flag: '--dashboards',
    argument: '<directory>',
    variable: 'PILOTHOUSE_DASHBOARDS',
    help: 'a folder of dashboards, one file each, to serve as they are',
    parse: anyText,
    rule: 'must not be empty',
  },
  rateLimit: {
    flag: '--rate-limit',
    argument: '<rate>',
    variable: 'PILOTHOUSE_RATE_LIMIT',
    help: 'requests per key or token and window, such as 10/10s, or off',
    fallback: '1000/10s',
    parse: parseRate,
    rule: 'must look like 1000/10s, or be off',
  },
  maxKeys: {
    flag: '--max-keys',
    argument: '<number>',
    variable: 'PILOTHOUSE_MAX_KEYS',
    help: 'keys an organization may have',
    fallback: '100',
    parse: wholeNumber(1, 1_000_000),
    rule: 'must be a whole number of at least 1',
  },
  lockAfterDays: {
    flag: '--lock-after-days',
    argument: '<number>',
    variable: 'PILOTHOUSE_LOCK_AFTER_DAYS',
    help: 'days after its end that a day of metered usage stays open',
    fallback: '14',
    parse: wholeNumber(0, 3650),
    rule: 'must be a whole number of days, 0 to 3650',
  },
  trustedProxies: {
    flag: '--trust-proxy',
    argument: '<cidr,…>',
    variable: 'PILOTHOUSE_TRUST_PROXY',
    help: 'proxies whose X-Forwarded-For is believed',
    fallback: '',
    parse: parseNetworks,
    rule: 'must be addresses or CIDRs, separated by commas',
  },
  telemetry: {
    flag: '--telemetry',
    argument: '<on|off>',
    variable: 'PILOTHOUSE_TELEMETRY',
    help: 'whether the server writes its own requests and measurements into the engine',
    fallback: 'on',
    parse: (text) => (text === 'on' ? true : text === 'off' ? false : undefined),
    rule: 'must be on or off',
  },
  telemetryOrganization: {
    flag: '--telemetry-organization',
    argument: '<id>',
    variable: 'PILOTHOUSE_TELEMETRY_ORGANIZATION',
    help: 'whose dashboards show what belongs to no organization: the process, the store, callers without credentials',
    parse: (text) => (isUuid(text) ? text.toLowerCase() : undefined),
    rule: 'must be the id of an organization',
  },
  webhookAllowPrivate: {
    flag: '--webhook-allow-private',
    argument: '<yes|no>',
    variable: 'PILOTHOUSE_WEBHOOK_ALLOW_PRIVATE',
    help: 'whether webhooks may lead to this machine and private networks',
    fallback: 'no',
    parse: (text) => (text === 'yes' || text === 'no' ? text === 'yes' : undefined),
    rule: 'must be yes or no',
  },
  logLevel: {
    flag: '--log-level',
    argument: '<level>',
    variable: 'PILOTHOUSE_LOG_LEVEL',
    help: LOG_LEVELS.join(', '),
    fallback: 'info',
    parse: (text) => LOG_LEVELS.find((level) => level === text),
    rule: `must be one of ${LOG_LEVELS.join(', ')}`,
  },
} as const satisfies { [name in keyof Config]: Setting };

export type SettingName = keyof typeof SETTINGS;
