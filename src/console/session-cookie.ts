import type { IncomingHttpHeaders } from 'node:http';

const SESSION_COOKIE = 'pilothouse_session';

/** Scripts cannot read the cookie, and no request that another site starts carries it. */
const COOKIE_FLAGS = ['HttpOnly', 'SameSite=Strict'];
/** Added when the request came over HTTPS; over plain HTTP the browser would drop the cookie. */
const HTTPS_FLAG = 'Secure';

interface CookieOptions {
  /** Prefix of every path, without a trailing slash; empty at the root. */
  basePath: string;
  /** 0 deletes the cookie. */
  maxAgeSeconds: number;
}

/** The value of a `set-cookie` header. */
export function formatSessionCookie(
  headers: IncomingHttpHeaders,
  secret: string,
  { basePath, maxAgeSeconds }: CookieOptions,
): string {
  return [
    `${SESSION_COOKIE}=${secret}`,
    `Path=${basePath}/`,
    `Max-Age=${maxAgeSeconds}`,
    ...COOKIE_FLAGS,
    ...(isHttps(headers) ? [HTTPS_FLAG] : []),
  ].join('; ');
}

/** The secret in a `cookie` header. The first of several: browsers send the most specific path first. */
export function parseSessionCookie(header: string | undefined): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const [name, value] = part.trim().split('=', 2);
    if (name === SESSION_COOKIE && value) return value;
  }
  return undefined;
}

/** According to the proxy or the browser. A forged header can only make the cookie stricter. */
function isHttps(headers: IncomingHttpHeaders): boolean {
  const forwarded = [headers['x-forwarded-proto'] ?? []].flat().join(',').split(',', 1)[0]?.trim().toLowerCase();
  return forwarded === 'https' || /^https:\/\//i.test(headers.origin ?? '');
}
