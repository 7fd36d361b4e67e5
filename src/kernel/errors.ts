/** The kind of error. The HTTP layer maps it to a status, the CLI to an exit code. */
export type ErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'conflict'
  | 'precondition_failed'
  | 'payload_too_large'
  | 'uri_too_long'
  | 'unsupported_media_type'
  | 'unprocessable_entity'
  | 'too_many_requests'
  | 'headers_too_large'
  | 'internal'
  | 'not_implemented'
  | 'unavailable';

/** The part of a request that a violation is in, as error messages name it. */
export type Place = 'request body' | 'query' | 'path' | 'header';

/** A violated rule. */
export interface Violation {
  /** The member within its document: `tiles[0].w`. Empty for the document itself. */
  path: string;
  rule: string;
  value: unknown;
  /** The value is or may contain a secret: messages show its type only. */
  secret?: boolean;
}

interface Details {
  field?: string;
  violations?: Violation[];
  /** The part of the request that the paths of the violations start with, once it has been added. */
  place?: Place;
  /** The message covers all violations; otherwise an interface composes its message from them. */
  isSummary?: boolean;
  retryAfterSeconds?: number;
  headers?: Record<string, string>;
  /** Of an `unauthorized`: the credential that was named, whose secret is wrong or which may not be used. Never sent. */
  refused?: RefusedCredential | undefined;
  cause?: unknown;
}

export interface RefusedCredential {
  organizationId: string;
  id: string;
  name: string;
  reason: 'secret not valid' | 'not active';
}

/** An error that the caller can act on. `message` is sent to the client; `cause` is logged and never sent. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly violations: readonly Violation[];
  readonly place: Place | undefined;
  readonly isSummary: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Record<string, string>;
  readonly refused: RefusedCredential | undefined;

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.field = details.field;
    this.violations = details.violations ?? [];
    this.place = details.place;
    this.isSummary = details.isSummary ?? false;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.headers = details.headers ?? {};
    this.refused = details.refused;
  }
}

/** Marks a missing value, as opposed to `undefined` and `null`. */
export const MISSING = Symbol('missing');

/** Throws if there are violations. Paths are relative to the document; the HTTP layer adds the part of the request. */
export function rejectViolations(violations: Violation[]): void {
  if (violations.length > 0)
    throw new AppError('bad_request', violations.map(formatViolation).join('; '), { violations });
}

/** Adds `place` in front of every path, unless the error has a place already. */
export function atPlace(error: AppError, place: Place): AppError {
  if (error.violations.length === 0 || error.place !== undefined) return error;
  const violations = error.violations.map((violation) => ({ ...violation, path: joinPath(place, violation.path) }));
  const message = error.isSummary ? error.message : violations.map(formatViolation).join('; ');
  return new AppError(error.code, message, { ...error, violations, place, cause: error.cause });
}

const joinPath = (place: Place, path: string): string =>
  path === '' || path.startsWith('[') ? place + path : `${place}.${path}`;

export function formatViolation({ path, rule, value, secret }: Violation): string {
  const place = path === '' ? '' : `${path}: `;
  return `${place}${rule} ${secret ? `<${getKind(value)}>` : formatValue(value)}`;
}

/** For the log: the contents of files must not reach it. */
export const formatWithoutValue = (violation: Violation): string => formatViolation({ ...violation, secret: true });

const MAX_VALUE_CHARACTERS = 64;

/** The value a client sent, on one line: `<number:32>`, `<string:abc>`, `<array>`. */
export function formatValue(value: unknown): string {
  const kind = getKind(value);
  if (kind !== 'string' && kind !== 'number' && kind !== 'boolean') return `<${kind}>`;
  const text = [...String(value).slice(0, MAX_VALUE_CHARACTERS * 2)].slice(0, MAX_VALUE_CHARACTERS).join('');
  return `<${kind}:${text.toWellFormed()}>`;
}

function getKind(value: unknown): string {
  if (value === MISSING || value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
