/** What went wrong, in one word. The HTTP edge picks the status, the CLI picks the exit code. */
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
  | 'unsupported_media_type'
  | 'too_many_requests'
  | 'headers_too_large'
  | 'internal'
  | 'unavailable';

/** One broken rule: where it stands, what would be right, and what was given instead. */
export interface Violation {
  path: string;
  rule: string;
  value: unknown;
  /** The value is a secret or close to one: name its kind, never its text. */
  secret?: boolean;
}

interface Details {
  field?: string;
  violations?: Violation[];
  /** The message says it all for the violations together; left out, an interface words it from them. */
  isSummary?: boolean;
  retryAfterSeconds?: number;
  headers?: Record<string, string>;
  cause?: unknown;
}

/** An error somebody can act on. `message` is for them; `cause` is logged and never sent. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly violations: readonly Violation[];
  readonly isSummary: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.field = details.field;
    this.violations = details.violations ?? [];
    this.isSummary = details.isSummary ?? false;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.headers = details.headers ?? {};
  }
}

/** The stand-in for a value that was not given at all; `undefined` and `null` are values of their own. */
export const MISSING = Symbol('missing');

/** Throws when there is anything to complain about; returns quietly otherwise. */
export function refuse(violations: Violation[]): void {
  if (violations.length > 0) throw new AppError('bad_request', violations.map(sentence).join('; '), { violations });
}

export function sentence({ path, rule, value, secret }: Violation): string {
  const place = path === '' ? '' : `${path}: `;
  return `${place}${rule} ${secret ? `<${kindOf(value)}>` : shown(value)}`;
}

const SHOWN_CHARACTERS = 64;

/** `<number:32>`, `<string:abc>`, `<array>`: what a client sent, short enough for one line. */
export function shown(value: unknown): string {
  const kind = kindOf(value);
  if (kind !== 'string' && kind !== 'number' && kind !== 'boolean') return `<${kind}>`;
  const text = [...String(value).slice(0, SHOWN_CHARACTERS * 2)].slice(0, SHOWN_CHARACTERS).join('');
  return `<${kind}:${text.toWellFormed()}>`;
}

function kindOf(value: unknown): string {
  if (value === MISSING || value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
