import { parseBasePath } from '../../platform/http/requests/base-path.ts';
import { BACKUP_SETTINGS } from './backup-settings.ts';
import { CLICKHOUSE_SETTINGS } from './clickhouse-settings.ts';
import { CLIENT_SETTINGS } from './client-settings.ts';
import { DATABASE_SETTINGS } from './database-settings.ts';
import { MAIL_SETTINGS } from './mail-settings.ts';
import { SERVICE_SETTINGS } from './running-settings.ts';
import type { Setting } from './setting.ts';
import {
  INVALID,
  nonEmpty,
  oneOfTwo,
  parseDays,
  parseNetworks,
  parsePublicUrl,
  parseRate,
  parseTables,
  wholeNumber,
} from './setting-parsers.ts';
import { SIGN_IN_SETTINGS } from './sign-in-settings.ts';
import { TELEMETRY_SETTINGS } from './telemetry-settings.ts';
import { TLS_SETTINGS } from './tls-settings.ts';

export type { Setting };
export { INVALID };

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** All settings. Flags, variables, `--help`, `Config` and docs/settings.md are derived from this table. */
export const SETTINGS = {
  configFile: {
    flag: '--config',
    argument: '<file>',
    variable: 'PILOTHOUSE_CONFIG',
    help: 'YAML or JSON file with settings; their names are those of the flags, without the dashes in front',
    parse: nonEmpty,
    rule: 'must not be empty',
  },
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
  workers: {
    flag: '--workers',
    argument: '<number>',
    variable: 'PILOTHOUSE_WORKERS',
    help: 'Processes that serve requests on the same port; with more than 1, another process does everything else',
    fallback: '1',
    parse: wholeNumber(1, 64),
    rule: 'must be a whole number from 1 to 64',
  },
  ...TLS_SETTINGS,
  publicUrl: {
    flag: '--public-url',
    argument: '<url>',
    variable: 'PILOTHOUSE_PUBLIC_URL',
    help: 'The address of this server for people, with its path if it has one: used in links of notifications and invitations, and for sign-in with an identity provider',
    parse: parsePublicUrl,
    rule: 'must look like https://pilothouse.example.com',
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
  ...DATABASE_SETTINGS,
  ...CLICKHOUSE_SETTINGS,
  openTables: {
    flag: '--open-tables',
    argument: '<table,…>',
    variable: 'PILOTHOUSE_OPEN_TABLES',
    help: 'Engine tables without an organization column that every organization can read',
    fallback: '',
    parse: parseTables,
    rule: 'must be a comma-separated list of database.table names, without tables of system or information_schema',
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
    help: "Requests per key or token and time window over all nodes, such as 10/10s (the public service's documented limit), or off",
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
    rule: 'must be a whole number from 1 to 1000000',
  },
  maxTokens: {
    flag: '--max-tokens',
    argument: '<number>',
    variable: 'PILOTHOUSE_MAX_TOKENS',
    help: 'Maximum number of dashboard tokens per organization',
    fallback: '100',
    parse: wholeNumber(1, 1_000_000),
    rule: 'must be a whole number from 1 to 1000000',
  },
  maxDashboards: {
    flag: '--max-dashboards',
    argument: '<number>',
    variable: 'PILOTHOUSE_MAX_DASHBOARDS',
    help: 'Maximum number of dashboards per organization',
    fallback: '1000',
    parse: wholeNumber(1, 1_000_000),
    rule: 'must be a whole number from 1 to 1000000',
  },
  maxSources: {
    flag: '--max-sources',
    argument: '<number>',
    variable: 'PILOTHOUSE_MAX_SOURCES',
    help: 'Maximum number of sources per organization',
    fallback: '100',
    parse: wholeNumber(1, 1_000_000),
    rule: 'must be a whole number from 1 to 1000000',
  },
  maxServices: {
    flag: '--max-services',
    argument: '<number>',
    variable: 'PILOTHOUSE_MAX_SERVICES',
    help: 'Maximum number of services per organization; beyond it, the API creates no more',
    fallback: '1000',
    parse: wholeNumber(1, 1_000_000),
    rule: 'must be a whole number from 1 to 1000000',
  },
  ...SERVICE_SETTINGS,
  ...BACKUP_SETTINGS,
  lockAfterDays: {
    flag: '--lock-after-days',
    argument: '<number>',
    variable: 'PILOTHOUSE_LOCK_AFTER_DAYS',
    help: 'Lock a day of metered usage this many days after it ends',
    fallback: '14',
    parse: wholeNumber(0, 3650),
    rule: 'must be a whole number of days from 0 to 3650',
  },
  auditRetentionDays: {
    flag: '--audit-retention',
    argument: '<days>',
    variable: 'PILOTHOUSE_AUDIT_RETENTION',
    help: 'Remove activities of the audit log after this many days, or forever to keep them',
    fallback: 'forever',
    parse: parseDays,
    rule: 'must be a whole number of days from 1 to 36500, or forever',
  },
  versionRetentionDays: {
    flag: '--version-retention',
    argument: '<days>',
    variable: 'PILOTHOUSE_VERSION_RETENTION',
    help: 'Remove earlier versions of dashboards after this many days, or forever to keep the newest 500 of each',
    fallback: 'forever',
    parse: parseDays,
    rule: 'must be a whole number of days from 1 to 36500, or forever',
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
  ...TELEMETRY_SETTINGS,
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
    help: 'Allow webhooks of notifications, budgets and services to call loopback and private addresses',
    fallback: 'no',
    parse: oneOfTwo('yes', 'no'),
    rule: 'must be yes or no',
  },
  ...SIGN_IN_SETTINGS,
  ...MAIL_SETTINGS,
  logLevel: {
    flag: '--log-level',
    argument: '<level>',
    variable: 'PILOTHOUSE_LOG_LEVEL',
    help: `Minimum level of log messages: ${LOG_LEVELS.join(', ')}`,
    fallback: 'info',
    parse: (text): LogLevel | typeof INVALID => LOG_LEVELS.find((level) => level === text) ?? INVALID,
    rule: `must be one of ${LOG_LEVELS.join(', ')}`,
  },
  ...CLIENT_SETTINGS,
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

/** The settings of a server. */
export const ALL_SETTINGS = (Object.keys(SETTINGS) as SettingName[]).filter((name) => !(name in CLIENT_SETTINGS));
/** For commands that open the store. */
export const STORE_SETTINGS: readonly SettingName[] = ['dataDirectory', 'databaseUrl', 'secretsKeyFile', 'logLevel'];
/** For commands that use the API of a server, or the same API on the store. */
export const API_SETTINGS: readonly SettingName[] = ['serverUrl', 'serverKey', 'profile', ...STORE_SETTINGS];
/** For commands that also query the engine. */
export const ENGINE_SETTINGS: readonly SettingName[] = [
  ...STORE_SETTINGS,
  'clickhouseUrl',
  'clickhouseCluster',
  'engineMemoryBytes',
];
