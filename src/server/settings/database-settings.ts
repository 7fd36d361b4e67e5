import type { Setting } from './setting.ts';
import { nonEmpty, oneOfTwo, urlWithScheme, wholeNumber } from './setting-parsers.ts';

/** Where the state is, and the key of its secrets. */
export const DATABASE_SETTINGS = {
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
  secretsKeyFile: {
    flag: '--secrets-key-file',
    argument: '<file>',
    variable: 'PILOTHOUSE_SECRETS_KEY_FILE',
    help: 'File with the keys that encrypt secrets in the store, the same on all nodes; created at the first start',
    fallbackHelp: 'secrets.key in the data directory',
    parse: nonEmpty,
    rule: 'must not be empty',
  },
  databaseConnections: {
    flag: '--database-connections',
    argument: '<count>',
    variable: 'PILOTHOUSE_DATABASE_CONNECTIONS',
    help: 'Maximum number of connections to PostgreSQL',
    fallback: '10',
    parse: wholeNumber(2, 1000),
    rule: 'must be a whole number from 2 to 1000',
  },
  databasePreparedStatements: {
    flag: '--database-prepared-statements',
    argument: '<yes|no>',
    variable: 'PILOTHOUSE_DATABASE_PREPARED_STATEMENTS',
    help: 'Use named prepared statements on PostgreSQL; no for connection poolers that do not support them',
    fallback: 'yes',
    parse: oneOfTwo('yes', 'no'),
    rule: 'must be yes or no',
  },
} as const satisfies Record<string, Setting>;
