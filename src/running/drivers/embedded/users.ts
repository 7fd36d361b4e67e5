import { MINUTE_MS, SECOND_MS } from '../../../kernel/time/clock.ts';
import { type Elements, newStartSecret, type User } from '../../../platform/listener/configuration.ts';
import { READABLE_COLUMNS, READABLE_TABLES } from './readable-tables.ts';

/** Queries of clients run as this user. */
const OWNER = 'owner';
const READER = 'sql_reader';
const ADMIN = 'sql_admin';

/** The users whose queries are those of people and programs. */
export const CLIENT_USERS: readonly string[] = [OWNER, READER, ADMIN];

/** Statements about the service's own tables and caches. All others would end the listener or change the process. */
const SYSTEM_GRANTS = [
  'SYSTEM DROP CACHE',
  'SYSTEM RELOAD DICTIONARY',
  'SYSTEM MERGES',
  'SYSTEM TTL MERGES',
  'SYSTEM MOVES',
  'SYSTEM CLEANUP',
  'SYSTEM VIEWS',
  'SYSTEM FLUSH',
  'SYSTEM WAIT LOADING PARTS',
  'SYSTEM LOAD PRIMARY KEY',
  'SYSTEM UNLOAD PRIMARY KEY',
  'SYSTEM UNFREEZE',
];

/**
 * Everything except what would end the listener or act as its user `default`. A table of users in `system` could keep the
 * service from starting. The owner can still stop its own queries.
 */
const OWNER_GRANTS = [
  'GRANT ALL ON *.*',
  'REVOKE SYSTEM, KILL QUERY, IMPERSONATE, SET DEFINER ON *.*',
  'REVOKE CREATE, DROP, ALTER, INSERT ON system.*',
  'GRANT ALTER DELETE ON system.query_log',
  `GRANT ${SYSTEM_GRANTS.join(', ')} ON *.*`,
];

const READER_GRANTS = [
  'GRANT SELECT, dictGet ON *.*',
  'REVOKE SELECT ON system.*',
  ...READABLE_TABLES.map((table) => `GRANT SELECT ON system.${table}`),
  ...Object.entries(READABLE_COLUMNS).map(
    ([table, columns]) =>
      `GRANT SHOW COLUMNS, SELECT(${columns.map((name) => `\`${name}\``).join(', ')}) ON system.${table}`,
  ),
];

/** It reads no rows: ClickHouse writes the files of a backup itself, to the folder for backups only. */
const BACKUP_GRANTS = ['GRANT BACKUP ON *.*'];

const MAX_READER_SECONDS = (60 * MINUTE_MS) / SECOND_MS;
const READER_SECONDS = (10 * MINUTE_MS) / SECOND_MS;
const MAX_READER_QUERIES = 20;
/** More than a download needs; fewer than would fill a disk of the client unnoticed. */
const MAX_RESULT_BYTES = 100 * 10 ** 9;

/** Settings that a reader may change without limits: none of them names a file or an expression, or widens a limit. */
const FREE_SETTINGS = [
  'date_time_output_format',
  'extremes',
  'final',
  'force_primary_key',
  'format_csv_delimiter',
  'group_by_use_nulls',
  'join_algorithm',
  'join_use_nulls',
  'limit',
  'max_block_size',
  'max_bytes_to_read',
  'max_result_rows',
  'max_rows_to_read',
  'offset',
  'optimize_read_in_order',
  'output_format_json_array_of_rows',
  'output_format_json_quote_64bit_integers',
  'output_format_json_quote_decimals',
  'output_format_json_quote_denormals',
  'read_overflow_mode',
  'result_overflow_mode',
  'session_timezone',
  'use_skip_indexes',
];

const isChangeable = { changeable_in_readonly: '' };

/** With `readonly = 1` alone, a reader could not even set `max_threads`; grants keep it from everything but reading. */
const listReaderSettings = (memoryBytes: number): Elements => {
  const maxMemoryBytes = Math.floor(memoryBytes / 2);
  return {
    readonly: 1,
    max_execution_time: READER_SECONDS,
    max_memory_usage: maxMemoryBytes,
    max_memory_usage_for_user: maxMemoryBytes,
    max_result_bytes: MAX_RESULT_BYTES,
    max_concurrent_queries_for_user: MAX_READER_QUERIES,
    constraints: {
      max_execution_time: { min: 1, max: MAX_READER_SECONDS, ...isChangeable },
      max_memory_usage: { min: 1, max: maxMemoryBytes, ...isChangeable },
      max_threads: { min: 1, max: 64, ...isChangeable },
      ...Object.fromEntries(FREE_SETTINGS.map((name) => [name, isChangeable])),
    },
  };
};

/** In one minute, of all readers of a service together. */
const READER_QUOTA: Elements = { duration: 60, queries: 3000, execution_time: 60 * MAX_READER_QUERIES };

/**
 * The users of one start. The service's own password is checked by the proxy, which then uses the owner. The others are the
 * control plane's: `reader` and `admin` run SQL by role, `stopper` ends their statements, and `backup` backs the service up.
 */
export function createUsers(memoryBytes: number) {
  const create = (name: string, grants: readonly string[]): User => ({ name, password: newStartSecret(), grants });
  return {
    owner: create(OWNER, OWNER_GRANTS),
    reader: { ...create(READER, READER_GRANTS), settings: listReaderSettings(memoryBytes), quota: READER_QUOTA },
    admin: create(ADMIN, OWNER_GRANTS),
    stopper: create('sql_stopper', ['GRANT KILL QUERY ON *.*', 'GRANT SELECT ON system.processes']),
    backup: create('backup', BACKUP_GRANTS),
  };
}
