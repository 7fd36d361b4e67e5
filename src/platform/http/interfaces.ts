import { type AppError, type ErrorCode, formatViolation, type Violation } from '../../kernel/errors.ts';

/** The error format and limits of one of the HTTP interfaces. */
interface Interface {
  prefix: string;
  bodyLimitBytes: number;
  failure(error: AppError, requestId: string): object;
}

const MIB = 1024 * 1024;

export const management: Interface = {
  prefix: '/v1',
  bodyLimitBytes: MIB,
  failure: (error, requestId) => ({
    requestId,
    error: `${WIRE_CODES[error.code]}: ${error.message}`,
    status: toHttpStatus(error),
  }),
};

export const dashboards: Interface = {
  prefix: '/api/v2',
  bodyLimitBytes: 2 * MIB,
  failure: (error) =>
    error.code === 'bad_request'
      ? { message: formatDashboardMessage(error), errors: listDashboardErrors(error) }
      : { message: error.message },
};

/** The console's own routes; same error format as the dashboards. */
export const consoleInterface: Interface = {
  prefix: '/console',
  bodyLimitBytes: 16 * 1024,
  failure: dashboards.failure,
};

/** All other paths: health, metrics, documentation. */
const pages: Interface = {
  prefix: '',
  bodyLimitBytes: MIB,
  failure: (error) => ({ message: error.message }),
};

/** Selects by path alone, so that it also works for malformed requests. */
export function selectInterface(url: string): Interface {
  const path = (/^https?:\/\/[^/?#]*(.*)$/i.exec(url)?.[1] ?? url).split(/[?#]/, 1)[0] ?? '';
  const isUnder = ({ prefix }: Interface) => path === prefix || path.startsWith(`${prefix}/`);
  return [management, dashboards, consoleInterface].find(isUnder) ?? pages;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Of a request whose URL could not be read: the members of both interfaces. */
const failureOfUnknown = (error: AppError, requestId: string) => ({
  ...management.failure(error, requestId),
  message: error.message,
});

/**
 * The body of an error response: JSON in the format of its interface, text for all other paths. Clients of the public
 * interfaces read a JSON 404 as "was deleted", so a path outside of them must not have one.
 */
export function renderFailure(
  url: string,
  error: AppError,
  requestId: string,
  isUnknownPath = false,
): { type: string; body: string } {
  if (url === '') return { type: JSON_TYPE, body: JSON.stringify(failureOfUnknown(error, requestId)) };
  const selected = selectInterface(url);
  if (selected === pages || (selected === consoleInterface && isUnknownPath))
    return { type: 'text/plain; charset=utf-8', body: `${error.message}\n` };
  return { type: JSON_TYPE, body: JSON.stringify(selected.failure(error, requestId)) };
}

const STATUSES: Record<ErrorCode, number> = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  unprocessable_entity: 422,
  too_many_requests: 429,
  headers_too_large: 431,
  internal: 500,
  not_implemented: 501,
  unavailable: 503,
};

const WIRE_CODES = Object.fromEntries(
  Object.keys(STATUSES).map((code) => [
    code,
    { internal: 'INTERNAL_ERROR', unavailable: 'SERVICE_UNAVAILABLE' }[code] ?? code.toUpperCase(),
  ]),
) as Record<ErrorCode, string>;

/** For clients of the API: the code of an error response. */
export const findErrorCode = (status: number): ErrorCode =>
  (Object.keys(STATUSES) as ErrorCode[]).find((code) => STATUSES[code] === status) ?? 'unavailable';

export const toHttpStatus = (error: AppError): number => STATUSES[error.code];

/** `request body.tiles[0].w` → `tiles.0.w`, the path format of the dashboard interface. */
const toDottedPath = (path: string) => path.replace(/^(request body|query|path)\.?/, '').replace(/\[(\d+)\]/g, '.$1');

function formatDashboardMessage({ violations, message, isSummary }: AppError): string {
  if (violations.length === 0 || isSummary) return message;
  const part = violations.every(({ path }) => path.startsWith('query')) ? 'Query' : 'Body';
  const listed = violations.slice(0, MAX_LISTED_VIOLATIONS).map(({ path, rule }) => `${toDottedPath(path)}: ${rule}`);
  if (violations.length > listed.length) listed.push(`and ${violations.length - listed.length} more`);
  return `${part} validation failed: ${listed.join('; ')}`;
}

const MAX_LISTED_VIOLATIONS = 20;

function listDashboardErrors({ violations, message, field }: AppError): { path: string; message: string }[] {
  return violations.length === 0 ? [{ path: field ?? '', message }] : formatErrors(violations);
}

const MAX_LISTED_ERRORS = 200;

/** Violations in the format of the dashboard interface. Limited, because a body can have thousands. */
export const formatErrors = (violations: readonly Violation[]): { path: string; message: string }[] =>
  violations
    .slice(0, MAX_LISTED_ERRORS)
    .map((violation) => ({ path: toDottedPath(violation.path), message: formatViolation({ ...violation, path: '' }) }));
