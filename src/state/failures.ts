import { AppError } from '../kernel/errors.ts';

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

const POSTGRES_LOCKED = '55P03';

// Disk full, I/O error, file missing or read-only; PostgreSQL shutting down, locked, out of connections, disk or memory.
const LIBSQL_LOST = /^SQLITE_(FULL|IOERR|BUSY|CANTOPEN|READONLY|LOCKED|NOMEM|PROTOCOL|CORRUPT|NOTADB)/;
const POSTGRES_LOST = /^(08|53|55P03|57P|58|25006)/;
const NETWORK_LOST = /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT)/;
const POOL_LOST =
  /connection terminated|timeout exceeded when trying to connect|timeout expired|client has encountered a connection error|not queryable|query read timeout|cannot use a pool after/i;
const QUERY_TIMEOUT = /query read timeout/i;

/** PostgreSQL did not respond to a statement in time. */
export const isQueryTimeout = (error: unknown): boolean => error instanceof Error && QUERY_TIMEOUT.test(error.message);

/** Converts errors that mean the store is unavailable to `unavailable`; other errors are returned unchanged. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const code = readCode(error);
  const message = error instanceof Error ? error.message : String(error);
  const isLost =
    LIBSQL_LOST.test(code) || POSTGRES_LOST.test(code) || NETWORK_LOST.test(code) || POOL_LOST.test(message);
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
  if (/^(SQLITE_FULL|53100)/.test(code) || /disk (is )?full|no space/i.test(message)) return 'the disk is full';
  if (code.startsWith('SQLITE_BUSY') || code === POSTGRES_LOCKED) return 'another program has locked the database';
  if (code.startsWith('SQLITE')) return 'the database file cannot be read or written';
  if (QUERY_TIMEOUT.test(message)) return 'the database is not responding';
  return 'the database cannot be reached';
}
