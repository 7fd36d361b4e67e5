import { expect } from 'vitest';

export const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const CODES: Record<number, string> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'REQUEST_TIMEOUT',
  409: 'CONFLICT',
  412: 'PRECONDITION_FAILED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE_ENTITY',
  429: 'TOO_MANY_REQUESTS',
  414: 'URI_TOO_LONG',
  431: 'HEADERS_TOO_LARGE',
  501: 'NOT_IMPLEMENTED',
  503: 'SERVICE_UNAVAILABLE',
};

interface Failure {
  status: number;
  headers: Headers | Record<string, string>;
  text: string;
  json: unknown;
}

/** Checks that an error response has the format of its interface (B2, B6, M1, M2, D1) and reveals no internals. */
export function expectFailure(path: string, { status, headers, text, json }: Failure, expected: number): void {
  const header = (name: string) => (headers instanceof Headers ? headers.get(name) : headers[name]);
  expect(status, `${path}: ${text.slice(0, 500)}`).toBe(expected);
  const isJson =
    path === '' ||
    ['/v1', '/api/v2'].some((prefix) => isUnder(path, prefix)) ||
    /^\/console\/(sessions?(\/[^/]+)?|invitation(\/accept)?|sign-(in|out)\/oidc(\/[a-z-]+)?|config|setup|shared-dashboard(\/tiles\/[^/]+\/data)?)$/.test(
      path,
    );
  expect(header('content-type')).toBe(isJson ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8');
  const requestId = header('x-request-id');
  expect(requestId).toMatch(UUID_V4);
  expect(text).not.toMatch(/node_modules|\.[jt]s:\d|\n\s+at /);
  if (isUnder(path, '/v1') || path === '') {
    // An empty path: the URL could not be read, so the response has the members of both interfaces.
    const members = path === '' ? { message: expect.stringMatching(/\S/) } : {};
    expect(json).toEqual({
      requestId,
      error: expect.stringMatching(new RegExp(`^${CODES[expected]}: \\S`)),
      status: expected,
      ...members,
    });
  } else if ((isUnder(path, '/api/v2') || isUnder(path, '/console')) && expected === 400) {
    expect(json).toEqual({
      message: expect.stringMatching(/\S/),
      errors: expect.arrayContaining([{ path: expect.any(String), message: expect.any(String) }]),
    });
  } else if (!isJson) {
    expect(text).toMatch(/^\S.*\n$/);
  } else {
    expect(json).toEqual({ message: expect.stringMatching(/\S/) });
  }
}

const isUnder = (path: string, prefix: string): boolean =>
  path === prefix || path.startsWith(`${prefix}/`) || path.startsWith(`${prefix}?`);
