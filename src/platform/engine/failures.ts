import { AppError } from '../../kernel/errors.ts';
import { formatBytes } from '../../kernel/numbers/bytes.ts';
import type { Limits } from './engine.ts';

const readCode = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');
const readMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const NETWORK_LOST = /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|UND_ERR|CERT_|DEPTH_ZERO)/;
const CONNECTION_LOST = /socket hang up|timeout error|other side closed|premature close/i;

// ClickHouse's exception codes are the same in every version.
const TIME = ['159', '160'];
const ROWS = ['158', '396'];
const BYTES = /max bytes/;
const MEMORY = ['241'];
/** The limit of the server, or of all queries of our user, not the one of this query. The second form is of older versions. */
const SHARED_MEMORY = /^(?:\(total\)|User) memory limit exceeded|^Memory limit \((?:total|for user)\) exceeded/;
const DISK_FULL = ['243'];
// ENOSPC, EDQUOT and EFBIG (a limit on the size of files), in messages about a failed write.
const NO_SPACE = /No space left on device|Disk quota exceeded|File too large|errno: (28|122|27)\b/;
const BUSY = ['202', '439', '209'];
/** Of a cluster: a server or its Keeper cannot be reached, or too few replicas are alive. */
const SHARD_LOST = ['210', '225', '242', '279', '285', '286', '319', '999'];
/** Also with the codes of rows that cannot be read: the connection between two servers broke. */
const SHARD_CONNECTION_LOST = /while receiving packet from/i;
const CANCELED = '394';
const AUTHENTICATION = ['192', '193', '194', '516'];
const NOT_ALLOWED = ['497', '164', '392', '452'];

/** Errors in the statement itself: names, types, arguments, patterns, values that cannot be parsed. */
const QUERY_ERRORS = new Set(
  '1 6 8 10 15 16 25 26 27 32 34 35 36 38 41 42 43 44 46 47 48 50 53 60 62 63 69 70 72 81 117 122 125 128 130 131 153 161 167 168 174 179 184 190 207 215 223 321 349 376 386 395 407 427 441 456 457 636 675 676 691 703'.split(
    ' ',
  ),
);

/** Parameters are sent as fields of a form or in the URL. */
const TOO_MANY_VALUES = /Too many form fields|URI invalid or too long/;

// Rows that cannot be read, and too many partitions.
const INSERT_ERRORS = ['6', '27', '32', '33', '34', '117', '131', '252'];

/** Whether the rows of a failed insert are at fault. None of them is stored; after other errors, some may be. */
export const isRejectedInsert = (error: unknown): boolean =>
  error instanceof AppError && error.code !== 'unavailable' && INSERT_ERRORS.includes(readCode(error.cause));

/** The ClickHouse user lacks a privilege. */
export const isNotAllowed = (error: unknown): boolean => NOT_ALLOWED.includes(readCode(error));

/** Converts an error of the engine into one with a code and a message that can be sent. */
export function toEngineError(error: unknown, limits: Required<Limits>): AppError {
  if (error instanceof AppError) return error;
  const code = readCode(error);
  const reject = (text: string) => new AppError('bad_request', text, { cause: error });
  if (TIME.includes(code))
    return reject(`The query took longer than ${limits.maxSeconds} s; use a shorter time range or fewer groups`);
  if (isTooLarge(error, code)) return resultTooLarge(limits.maxResultBytes, error);
  if (ROWS.includes(code))
    return reject(`The query returns more than ${limits.maxResultRows} rows; use a shorter time range or fewer groups`);
  if (MEMORY.includes(code) && SHARED_MEMORY.test(readMessage(error)))
    return unavailable('The engine lacks memory; try again, or use a shorter time range or fewer groups', error);
  if (MEMORY.includes(code))
    return reject('The query exceeds its memory limit; use a shorter time range or fewer groups');
  if (isDiskFull(error)) return unavailable(DISK_FULL_TEXT, error, 30);
  if (SHARD_LOST.includes(code) || SHARD_CONNECTION_LOST.test(readMessage(error)))
    return unavailable('A server of the ClickHouse cluster cannot be reached', error, 5);
  if (code === CANCELED) return unavailable('The query was canceled', error);
  if (BUSY.includes(code)) return unavailable('The engine is busy', error);
  if (AUTHENTICATION.includes(code)) return unavailable('The engine rejected the user name or password', error, 60);
  if (isNotAllowed(error)) return reject(`The engine does not permit this: ${extractReason(readMessage(error))}`);
  if (QUERY_ERRORS.has(code)) return reject(`The query is not valid: ${extractReason(readMessage(error))}`);
  if (TOO_MANY_VALUES.test(readMessage(error))) return reject('The query has too many values; use fewer conditions');
  if (NETWORK_LOST.test(code) || CONNECTION_LOST.test(readMessage(error)))
    return unavailable('The engine cannot be reached', error);
  return new AppError('internal', 'The engine failed', { cause: error });
}

const TOO_MANY_BYTES = '307';
const TOO_MANY_ROWS_OR_BYTES = '396';

const isTooLarge = (error: unknown, code: string): boolean =>
  code === TOO_MANY_BYTES || (code === TOO_MANY_ROWS_OR_BYTES && BYTES.test(readMessage(error)));

export function resultTooLarge(maxBytes: number, cause?: unknown): AppError {
  return new AppError(
    'bad_request',
    `The result of the query is larger than ${formatBytes(maxBytes)}; use a shorter time range, fewer groups, fewer fields or a lower limit`,
    { cause },
  );
}

export const DISK_FULL_TEXT = "The engine's disk is full";

/** Neither the statement nor the rows are at fault, and a retry helps once there is space. */
const isDiskFull = (error: unknown): boolean =>
  DISK_FULL.includes(readCode(error)) || NO_SPACE.test(readMessage(error));

export const incompleteResult = (cause?: unknown): AppError =>
  unavailable('The engine sent an incomplete result', cause, 5);

export const notResponding = (cause: unknown): AppError => unavailable('The engine is not responding', cause, 5);

export const unavailable = (text: string, cause?: unknown, retryAfterSeconds = 1): AppError =>
  new AppError('unavailable', text, { cause, retryAfterSeconds });

const IN_USE = 'Another process is using the engine directory';

export const directoryInUse = (directory: string, cause: unknown): AppError =>
  unavailable(`${IN_USE} ${directory}; stop it, or use another --data directory`, cause, 5);

export const isDirectoryInUse = (error: unknown): boolean => error instanceof Error && error.message.startsWith(IN_USE);

const SHOWN_CHARACTERS = 200;
/** The patterns below take quadratic time for long spaces. */
const READ_CHARACTERS = 2000;

/** The reason alone, without the statement, advice or version that ClickHouse adds. */
function extractReason(message: string): string {
  const [head = ''] = message
    .slice(0, READ_CHARACTERS)
    .replace(/^Code: \d+\. DB::Exception: /, '')
    .split(
      /[:.,;]?\s+(?:in scope |maybe you meant|while (?:executing|processing|converting)|in query|in block|stack trace|note: |look at |please note)|\s*\((?:version|[A-Z_]{3,}\))/i,
    );
  const text = head.replace(/\s+/g, ' ').replace(/^\S+: (?=Not enough privileges|Cannot execute)/, '');
  return [...text]
    .slice(0, SHOWN_CHARACTERS)
    .join('')
    .replace(/[.:\s]+$/, '');
}
