import type { IncomingHttpHeaders } from 'node:http';

const PLAIN_NAME = 'pilothouse_session';
/** Browsers accept this name only with `Secure` and `Path=/`, so no other host and no plain HTTP page can set it. */
const HOST_NAME = `__Host-${PLAIN_NAME}`;

/** Scripts cannot read the cookie, and no request that another site starts carries it. */
const COOKIE_FLAGS = ['HttpOnly', 'SameSite=Strict'];
/** Added when the request came over HTTPS; over plain HTTP the browser would drop the cookie. */
const HTTPS_FLAG = 'Secure';

interface SessionCookie {
  name: string;
  secret: string;
}

/** The `set-cookie` header that signs in. The base path is the prefix of every path; empty at the root. */
export function formatSessionCookie(
  headers: IncomingHttpHeaders,
  secret: string,
  { basePath, maxAgeSeconds }: { basePath: string; maxAgeSeconds: number },
): string {
  const isSecure = isHttps(headers);
  return formatCookie(isSecure && basePath === '' ? HOST_NAME : PLAIN_NAME, secret, basePath, maxAgeSeconds, isSecure);
}

/** The `set-cookie` header that deletes the cookie of a request; without one, the cookie that it would have. */
export function formatDeletedCookie(headers: IncomingHttpHeaders, basePath: string): string {
  const { name } = findSessionCookie(headers, basePath) ?? { name: PLAIN_NAME };
  return formatCookie(name, '', basePath, 0, name === HOST_NAME || isHttps(headers));
}

function formatCookie(name: string, value: string, basePath: string, maxAgeSeconds: number, isSecure: boolean) {
  const flags = isSecure ? [...COOKIE_FLAGS, HTTPS_FLAG] : COOKIE_FLAGS;
  return [`${name}=${value}`, `Path=${basePath}/`, `Max-Age=${maxAgeSeconds}`, ...flags].join('; ');
}

/**
 * The session cookie of a request. The first of several: browsers send the most specific path first. Where the protected
 * name is possible, the plain one is ignored: another host of the same domain may have set it.
 */
export function findSessionCookie(headers: IncomingHttpHeaders, basePath: string): SessionCookie | undefined {
  let plain: SessionCookie | undefined;
  for (const part of headers.cookie?.split(';') ?? []) {
    const [name, secret] = part.trim().split('=', 2);
    if (!secret) continue;
    if (name === HOST_NAME) return { name, secret };
    if (name === PLAIN_NAME) plain ??= { name, secret };
  }
  return basePath === '' && isHttps(headers) ? undefined : plain;
}

/** According to the proxy or the browser. A forged header can only make the cookie stricter. */
function isHttps(headers: IncomingHttpHeaders): boolean {
  const forwarded = [headers['x-forwarded-proto'] ?? []].flat().join(',').split(',', 1)[0]?.trim().toLowerCase();
  return forwarded === 'https' || /^https:\/\//i.test(headers.origin ?? '');
}
