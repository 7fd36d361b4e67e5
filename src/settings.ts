import { parseBasePath } from './http/base-path.ts';
import { isUuid } from './kernel/ids.ts';
import {
  INVALID,
  nonEmpty,
  oneOf,
  oneOfTwo,
  parseBytes,
  parseDurationMs,
  parseList,
  parseNetworks,
  parsePortRange,
  parseRate,
  parseTables,
  urlWithScheme,
  wholeNumber,
} from './setting-parsers.ts';

export { INVALID };

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** One setting: its flag, its environment variable, its description and the parser of its value. */
export interface Setting<T = unknown> {
  flag: `--${string}`;
  argument: string;
  variable: `PILOTHOUSE_${string}`;
  help: string;
  /** The default, as text. Without it, the value is undefined. */
  fallback?: string;
  /** Describes a computed default, for settings without `fallback`. */
  fallbackHelp?: string;
  /** Error messages omit the value, and `<variable>_FILE` may name a file that contains it. */
  isSecret?: boolean;
  parse(text: string): T | typeof INVALID;
  /** Completes the sentence "--flag …" in error messages. */
  rule: string;
}

/** All settings. Flags, variables, `--help`, `Config` and docs/settings.md are derived from this table. */
export const SETTINGS = {
  port: {
    flag: '--port',
    argument: '<number>',
    variable: 'PILOTHOUSE_PORT',
    help: 'Port to listen on; 0 picks a free port',
    fallback: '8080',
    parse: wholeNumber(0, 65535),
    rule: 'must be a port number from 0 to 65535',
  },
  host: {
    flag: '--host',
    argument: '<address>',
    variable: 'PILOTHOUSE_HOST',
    help: 'Address to listen on',
    fallback: '127.0.0.1',
    parse: nonEmpty,
    rule: 'must not be empty',
  },
  dashboardPort: {
    flag: '--dashboard-port',
    argument: '<number>',
    variable: 'PILOTHOUSE_DASHBOARD_PORT',
    help: 'Serve the dashboard API (/api/v2) on a separate port; 0 picks a free port',
    parse: wholeNumber(0, 65535),
    rule: 'must be a port number from 0 to 65535',
  },
  basePath: {
    flag: '--base-path',
    argument: '<path>',
    variable: 'PILOTHOUSE_BASE_PATH',
    help: 'Path prefix of every URL, such as /pilothouse, for a proxy that serves other applications too',
    fallback: '',
    parse: (text): string | typeof INVALID => parseBasePath(text) ?? INVALID,
    rule: 'must look like /pilothouse, with letters, digits, dots, dashes, underscores and tildes',
  },
  dataDirectory: {
    flag: '--data',
    argument: '<directory>',
    variable: 'PILOTHOUSE_DATA',
    help: 'Directory of the embedded store and the embedded engine',
    fallback: '.pilothouse',
    parse: nonEmpty,
    rule: 'must not be empty',
  },
  databaseUrl: {
    flag: '--database-url',
    argument: '<url>',
    variable: 'PILOTHOUSE_DATABASE_URL',
    help: 'Use PostgreSQL 15 or later instead of the embedded store',
    isSecret: true,
    parse: urlWithScheme(/^postgres(ql)?:\/\//),
    rule: 'must look like postgres://user:password@host:5432/database',
  },
  clickhouseUrl: {
    flag: '--clickhouse-url',
    argument: '<url>',
    variable: 'PILOTHOUSE_CLICKHOUSE_URL',
    help: 'Use a ClickHouse server instead of the embedded engine',
    isSecret: true,
    parse: urlWithScheme(/^https?:\/\//),
    rule: 'must look like http://user:password@host:8123/database',
  },
  engineMemoryBytes: {
    flag: '--engine-memory',
    argument: '<size>',
    variable: 'PILOTHOUSE_ENGINE_MEMORY',
    help: 'Memory limit of the embedded engine, such as 2GiB',
    fallbackHelp: 'a quarter of system memory, between 1 and 8 GiB',
    parse: parseBytes,
    rule: 'must look like 2GiB or 1536MiB, and be at least 768MiB',
  },
  openTables: {
    flag: '--open-tables',
    argument: '<table,…>',
    variable: 'PILOTHOUSE_OPEN_TABLES',
    help: 'Engine tables without an organization column that every organization can read',
    fallback: '',
    parse: parseTables,
    rule: 'must be a comma-separated list of database.table names',
  },
  fleetFile: {
    flag: '--fleet',
    argument: '<file>',
    variable: 'PILOTHOUSE_FLEET',
    help: 'Fleet file to apply at startup',
    parse: nonEmpty,
    rule: 'must not be empty',
  },
  dashboardsDirectory: {
    flag: '--dashboards',
    argument: '<directory>',
    variable: 'PILOTHOUSE_DASHBOARDS',
    help: 'Directory of dashboard files to serve and watch for changes',
    parse: nonEmpty,
    rule: 'must not be empty',
  },
  rateLimit: {
    flag: '--rate-limit',
    argument: '<rate>',
    variable: 'PILOTHOUSE_RATE_LIMIT',
    help: "Requests per key or token and time window, such as 10/10s (the public service's documented limit), or off",
    fallback: '1000/10s',
    parse: parseRate,
    rule: 'must look like 1000/10s, or be off',
  },
  maxKeys: {
    flag: '--max-keys',
    argument: '<number>',
    variable: 'PILOTHOUSE_MAX_KEYS',
    help: 'Maximum number of keys per organization',
    fallback: '100',
    parse: wholeNumber(1, 1_000_000),
    rule: 'must be a whole number of at least 1',
  },
  maxTokens: {
    flag: '--max-tokens',
    argument: '<number>',
    variable: 'PILOTHOUSE_MAX_TOKENS',
    help: 'Maximum number of dashboard tokens per organization',
    fallback: '100',
    parse: wholeNumber(1, 1_000_000),
    rule: 'must be a whole number of at least 1',
  },
  maxDashboards: {
    flag: '--max-dashboards',
    argument: '<number>',
    variable: 'PILOTHOUSE_MAX_DASHBOARDS',
    help: 'Maximum number of dashboards per organization',
    fallback: '1000',
    parse: wholeNumber(1, 1_000_000),
    rule: 'must be a whole number of at least 1',
  },
  maxSources: {
    flag: '--max-sources',
    argument: '<number>',
    variable: 'PILOTHOUSE_MAX_SOURCES',
    help: 'Maximum number of sources per organization',
    fallback: '100',
    parse: wholeNumber(1, 1_000_000),
    rule: 'must be a whole number of at least 1',
  },
  maxServices: {
    flag: '--max-services',
    argument: '<number>',
    variable: 'PILOTHOUSE_MAX_SERVICES',
    help: 'Maximum number of services per organization that the API creates',
    fallback: '1000',
    parse: wholeNumber(1, 1_000_000),
    rule: 'must be a whole number of at least 1',
  },
  simulatedTransitionMs: {
    flag: '--simulated-transition',
    argument: '<duration>',
    variable: 'PILOTHOUSE_SIMULATED_TRANSITION',
    help: 'How long a simulated service takes to start, stop, wake or be provisioned, such as 500ms or 10s',
    fallback: '2s',
    parse: parseDurationMs,
    rule: 'must look like 500ms or 10s, and be at most 1 hour',
  },
  defaultDriver: {
    flag: '--default-driver',
    argument: '<driver>',
    variable: 'PILOTHOUSE_DEFAULT_DRIVER',
    help: 'What runs services that are created without a driver: simulated, which has no process, or embedded',
    fallback: 'simulated',
    parse: oneOf('simulated', 'embedded'),
    rule: 'must be simulated or embedded',
  },
  endpointPorts: {
    flag: '--endpoint-ports',
    argument: '<first-last>',
    variable: 'PILOTHOUSE_ENDPOINT_PORTS',
    help: 'Ports for the HTTP endpoints of services, or 0 for any free port; a service keeps its port',
    fallback: '18123-19122',
    parse: parsePortRange,
    rule: 'must look like 18123-19122, or be 0',
  },
  embeddedMibPerGb: {
    flag: '--embedded-mib-per-gb',
    argument: '<number>',
    variable: 'PILOTHOUSE_EMBEDDED_MIB_PER_GB',
    help: 'Memory in MiB that an embedded service gets for each GB of its size; 1024 is the real size',
    fallback: '64',
    parse: wholeNumber(16, 1024),
    rule: 'must be a whole number from 16 to 1024',
  },
  kubeconfig: {
    flag: '--kubeconfig',
    argument: '<file>',
    variable: 'PILOTHOUSE_KUBECONFIG',
    help: 'Kubeconfig of the cluster for services with the kubernetes driver; in a cluster, its own account is used',
    parse: nonEmpty,
    rule: 'must not be empty',
  },
  drift: {
    flag: '--drift',
    argument: '<correct|adopt>',
    variable: 'PILOTHOUSE_DRIFT',
    help: 'What to do if the size of a service was changed outside: correct it, or adopt the change',
    fallback: 'correct',
    parse: oneOf('correct', 'adopt'),
    rule: 'must be correct or adopt',
  },
  ignoredStatements: {
    flag: '--idle-ignore-statements',
    argument: '<sql;…>',
    variable: 'PILOTHOUSE_IDLE_IGNORE_STATEMENTS',
    help: 'Statements, separated by semicolons, that do not keep a service from idling, such as SELECT 1',
    fallback: 'SELECT 1',
    parse: parseList(';'),
    rule: 'must be a list of statements, separated by semicolons',
  },
  ignoredAgents: {
    flag: '--idle-ignore-agents',
    argument: '<prefix,…>',
    variable: 'PILOTHOUSE_IDLE_IGNORE_AGENTS',
    help: 'Beginnings of user agents, separated by commas, whose queries do not keep a service from idling',
    fallback: '',
    parse: parseList(','),
    rule: 'must be a list of names, separated by commas',
  },
  lockAfterDays: {
    flag: '--lock-after-days',
    argument: '<number>',
    variable: 'PILOTHOUSE_LOCK_AFTER_DAYS',
    help: 'Lock a day of metered usage this many days after it ends',
    fallback: '14',
    parse: wholeNumber(0, 3650),
    rule: 'must be a whole number of days from 0 to 3650',
  },
  trustedProxies: {
    flag: '--trust-proxy',
    argument: '<cidr,…>',
    variable: 'PILOTHOUSE_TRUST_PROXY',
    help: 'Proxies whose X-Forwarded-For header is trusted',
    fallback: '',
    parse: parseNetworks,
    rule: 'must be a comma-separated list of addresses or CIDRs',
  },
  telemetry: {
    flag: '--telemetry',
    argument: '<on|off>',
    variable: 'PILOTHOUSE_TELEMETRY',
    help: "Write the server's own logs, traces and metrics to the engine",
    fallback: 'on',
    parse: oneOfTwo('on', 'off'),
    rule: 'must be on or off',
  },
  telemetryOrganization: {
    flag: '--telemetry-organization',
    argument: '<id>',
    variable: 'PILOTHOUSE_TELEMETRY_ORGANIZATION',
    help: 'Organization that owns the telemetry of the process, the store and unauthenticated requests',
    parse: (text): string | typeof INVALID => (isUuid(text) ? text.toLowerCase() : INVALID),
    rule: 'must be the id of an organization',
  },
  metricsToken: {
    flag: '--metrics-token',
    argument: '<token>',
    variable: 'PILOTHOUSE_METRICS_TOKEN',
    help: 'Bearer token that /metrics requires; without it, /metrics is public',
    isSecret: true,
    parse: (text): string | typeof INVALID => (/^[!-~]{16,1024}$/.test(text) ? text : INVALID),
    rule: 'must have 16 to 1024 visible ASCII characters',
  },
  webhookAllowPrivate: {
    flag: '--webhook-allow-private',
    argument: '<yes|no>',
    variable: 'PILOTHOUSE_WEBHOOK_ALLOW_PRIVATE',
    help: 'Allow webhooks of budgets and services to call loopback and private addresses',
    fallback: 'no',
    parse: oneOfTwo('yes', 'no'),
    rule: 'must be yes or no',
  },
  logLevel: {
    flag: '--log-level',
    argument: '<level>',
    variable: 'PILOTHOUSE_LOG_LEVEL',
    help: `Minimum level of log messages: ${LOG_LEVELS.join(', ')}`,
    fallback: 'info',
    parse: (text): LogLevel | typeof INVALID => LOG_LEVELS.find((level) => level === text) ?? INVALID,
    rule: `must be one of ${LOG_LEVELS.join(', ')}`,
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

export const ALL_SETTINGS = Object.keys(SETTINGS) as SettingName[];
/** For commands that open the store. */
export const STORE_SETTINGS: readonly SettingName[] = ['dataDirectory', 'databaseUrl', 'logLevel'];
/** For commands that also query the engine. */
export const ENGINE_SETTINGS: readonly SettingName[] = [...STORE_SETTINGS, 'clickhouseUrl', 'engineMemoryBytes'];
