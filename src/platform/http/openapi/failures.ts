import { STATUS_CODES } from 'node:http';
import Type from 'typebox';
import { DashboardFailure, ManagementFailure } from '../responses/envelopes.ts';
import type { Operation, Response, Schema } from './components.ts';

const DESCRIPTIONS: Record<number, string> = {
  400: 'A rule of the request is violated; the text names the member and the rule',
  401: 'The credentials are missing, unknown or no longer valid',
  403: 'The credentials do not allow this operation, or not from this address; or a page of another site sent the request',
  404: 'The resource does not exist, or belongs to another organization',
  408: 'The request arrived too slowly',
  409: 'The request conflicts with what is stored',
  412: 'The resource has changed since it was read',
  413: 'The request body is too large',
  414: 'The URL is too long',
  415: 'The request body is not declared as JSON',
  422: 'The Idempotency-Key was used for another request',
  429: 'Too many requests',
  431: 'The request headers are too large',
  500: 'The server failed',
  503: 'The server or its store is not ready, or overloaded',
};

const HEADERS: Record<number, Response['headers']> = {
  401: { 'www-authenticate': { description: 'The accepted scheme', schema: { type: 'string' } } },
  429: { 'retry-after': { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 } } },
};

/** Adds references to the error responses of an operation, and the responses themselves to `responses`. */
export function documentFailures(
  responses: Record<string, Response>,
  { path, method, operation }: { path: string; method: string; operation: Operation },
): void {
  const [prefix, content] = selectContent(path);
  for (const status of listFailures(path, method, operation)) {
    const name = `${prefix}${(STATUS_CODES[status] ?? '').replace(/[^A-Za-z]/g, '')}`;
    responses[name] ??= describeFailure(status, content);
    operation.responses[status] ??= { $ref: `#/components/responses/${name}` };
  }
}

/** The error format of an interface, and the prefix of the names of its responses. */
function selectContent(path: string): [string, Response['content']] {
  if (path.startsWith('/v1')) return ['Management', { 'application/json': { schema: ManagementFailure as Schema } }];
  if (path.startsWith('/service/')) return ['QueryEndpoint', { 'text/plain': { schema: Type.String() as Schema } }];
  return ['Dashboard', { 'application/json': { schema: DashboardFailure as Schema } }];
}

function describeFailure(status: number, content: Response['content']): Response {
  const headers = HEADERS[status];
  return {
    description: DESCRIPTIONS[status] ?? '',
    ...(headers ? { headers } : {}),
    ...(content && { content }),
  };
}

/** The error statuses that an operation can respond with. */
function listFailures(path: string, method: string, operation: Operation): number[] {
  const { parameters = [], requestBody, security = [] } = operation;
  const headers = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
  const isChange = method !== 'get';
  const isGuarded = security.length > 0 || requestBody !== undefined;
  return [
    400,
    ...(isGuarded ? [401, 403, 429] : []),
    // Pages of other sites may not even read the console's resources.
    ...(path.startsWith('/console/') ? [403] : []),
    ...(path.includes('{') ? [404] : []),
    ...(isChange ? [409, 413, 415] : []),
    ...(headers.includes('if-match') ? [412] : []),
    ...(headers.includes('idempotency-key') ? [422] : []),
    408,
    414,
    431,
    500,
    503,
  ];
}
