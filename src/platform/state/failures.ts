import { AppError } from '../../kernel/errors.ts';

const readCode = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

const POSTGRES_UNIQUE = '23505';

/** The row violates a UNIQUE or PRIMARY KEY constraint. */
export function isUniqueViolation(error: unknown): boolean {
  const code = readCode(error);
  return code === POSTGRES_UNIQUE || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}

/** Another process has locked the libSQL file. */
export const isBusy = (error: unknown): boolean => readCode(error).startsWith('SQLITE_BUSY');

/** PostgreSQL rolled back the transaction because of a deadlock or serialization failure; it can be retried. */
export const isRetryable = (error: unknown): boolean => readCode(error) === '40001' || readCode(error) === '40P01';

// Disk full, I/O error, file missing or read-only.
const LIBSQL_LOST = /^SQLITE_(FULL|IOERR|BUSY|CANTOPEN|READONLY|LOCKED|NOMEM|PROTOCOL|CORRUPT|NOTADB)/;
const NETWORK_LOST = /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT)/;
const POOL_LOST =
  /connection terminated|timeout exceeded when trying to connect|timeout expired|client has encountered a connection error|not queryable|query read timeout|cannot use a pool after/i;
const QUERY_TIMEOUT = /query read timeout/i;

const DISK_FULL = 'the disk is full';
const UNREACHABLE = 'the database cannot be reached';

/** The errors of PostgreSQL that are no fault of the statement, by SQLSTATE: whole classes after their special cases. */
const POSTGRES_LOST: readonly [RegExp, string][] = [
  [/^08/, UNREACHABLE],
  [/^25006/, 'the database is read-only'],
  [/^25P0[34]/, 'the change took too long'],
  [/^28/, 'the database rejected the user or the password'],
  [/^3D000/, 'the database does not exist'],
  [/^40(001|P01)/, 'other changes of the same data are in progress'],
  [/^53100/, DISK_FULL],
  [/^53200/, 'the database has no free memory'],
  [/^53[34]00/, 'the database has no free connection'],
  [/^53/, 'the database is overloaded'],
  [/^55P03/, 'another change or program has locked the data'],
  [/^57014/, 'the database canceled the statement'],
  [/^57/, UNREACHABLE],
  [/^(58|XX00[12])/, 'the database cannot read or write its files'],
];

/** PostgreSQL has no space for a change. */
export const isDiskFull = (error: unknown): boolean => readCode(error) === '53100';

/** PostgreSQL did not respond to a statement in time. */
export const isQueryTimeout = (error: unknown): boolean => error instanceof Error && QUERY_TIMEOUT.test(error.message);

/** Converts errors that mean the store is unavailable to `unavailable`; other errors are returned unchanged. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const code = readCode(error);
  const message = error instanceof Error ? error.message : String(error);
  const isLost =
    LIBSQL_LOST.test(code) ||
    POSTGRES_LOST.some(([pattern]) => pattern.test(code)) ||
    NETWORK_LOST.test(code) ||
    POOL_LOST.test(message);
  if (!isLost) return error;
  return new AppError('unavailable', `The state store is not available: ${describeReason(code, message)}`, {
    cause: error,
    retryAfterSeconds: 1,
  });
}

/** Names the file if it cannot be opened, read or written; other errors are returned unchanged. */
export function toFileError(error: unknown, path: string): unknown {
  const cause = error instanceof AppError ? error.cause : error;
  if (!(cause instanceof Error)) return error;
  const isFileError = LIBSQL_LOST.test(readCode(cause)) || 'syscall' in cause;
  if (!isFileError) return error;
  // Node repeats the path: `EACCES: permission denied, open '/data/state.db'`.
  const reason = cause.message.replace(/, \w+ '.*'$/s, '');
  return new AppError('unavailable', `The state store ${path} cannot be opened: ${reason}`, { cause });
}

function describeReason(code: string, message: string): string {
  if (code.startsWith('SQLITE_FULL') || /disk (is )?full|no space/i.test(message)) return DISK_FULL;
  if (code.startsWith('SQLITE_BUSY')) return 'another program has locked the database';
  if (code.startsWith('SQLITE')) return 'the database file cannot be read or written';
  if (QUERY_TIMEOUT.test(message)) return 'the database is not responding';
  return POSTGRES_LOST.find(([pattern]) => pattern.test(code))?.[1] ?? UNREACHABLE;
}
