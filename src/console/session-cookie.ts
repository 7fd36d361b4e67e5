import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { State } from '../platform/state/state.ts';
import { findCookieSuffix, insertCookieSuffix } from './store.ts';

const NAME = 'pilothouse_session';
const SUFFIX_BYTES = 16;

/** Browsers accept this prefix only with `Secure` and `Path=/`, so no other host and no plain HTTP page can set the cookie. */
const HOST_PREFIX = '__Host-';
/** Below a base path: browsers accept it only with `Secure`. */
const SECURE_PREFIX = '__Secure-';

/** Scripts cannot read the cookie, and no request that another site starts carries it. */
const COOKIE_FLAGS = ['HttpOnly', 'SameSite=Strict'];
/** Added when the request came over HTTPS; over plain HTTP the browser would drop the cookie. */
const HTTPS_FLAG = 'Secure';

export interface SessionCookies {
  /** Of this installation; other cookies of the console start with it. */
  name: string;
  /** The secret in the session cookie of a request. */
  find(headers: IncomingHttpHeaders): string | undefined;
  /** The `set-cookie` header that signs in. `isSecure`: the browser uses HTTPS, whatever the headers say. */
  format(headers: IncomingHttpHeaders, secret: string, maxAgeSeconds: number, isSecure?: boolean): string;
  /** The `set-cookie` header that deletes the cookie of a request; without one, the cookie that it would have. */
  formatDeleted(headers: IncomingHttpHeaders): string;
}

/**
 * Cookies ignore the port, so a page on another port of the host, such as the endpoint of a service, could set a cookie
 * whose name it knows. The names therefore end with a random text, the same on every node. The base path is the prefix of
 * every path; empty at the root. `hasTls`: every request is encrypted, also without a proxy.
 */
export function createSessionCookies(suffix: string, basePath: string, hasTls: boolean): SessionCookies {
  const plainName = `${NAME}_${suffix}`;
  const secureName = `${basePath === '' ? HOST_PREFIX : SECURE_PREFIX}${plainName}`;

  const isHttps = (headers: IncomingHttpHeaders) => hasTls || isSentByHttps(headers);

  function formatCookie(isSecure: boolean, value: string, maxAgeSeconds: number): string {
    const flags = isSecure ? [...COOKIE_FLAGS, HTTPS_FLAG] : COOKIE_FLAGS;
    const pair = `${isSecure ? secureName : plainName}=${value}`;
    return [pair, `Path=${basePath}/`, `Max-Age=${maxAgeSeconds}`, ...flags].join('; ');
  }

  /**
   * The first of several: browsers send the most specific path first. Over HTTPS the name without a prefix is ignored: a
   * plain HTTP page may have set it.
   */
  function findCookie(headers: IncomingHttpHeaders): { isSecure: boolean; secret: string } | undefined {
    let plain: string | undefined;
    for (const part of headers.cookie?.split(';') ?? []) {
      const [name, secret] = part.trim().split('=', 2);
      if (!secret) continue;
      if (name === secureName) return { isSecure: true, secret };
      if (name === plainName) plain ??= secret;
    }
    return plain === undefined || isHttps(headers) ? undefined : { isSecure: false, secret: plain };
  }

  return {
    name: plainName,
    find: (headers) => findCookie(headers)?.secret,
    format: (headers, secret, maxAgeSeconds, isSecure = false) =>
      formatCookie(isSecure || isHttps(headers), secret, maxAgeSeconds),
    formatDeleted: (headers) => formatCookie(findCookie(headers)?.isSecure ?? isHttps(headers), '', 0),
  };
}

/** Reads the end of the cookie names from the store; the first server of an installation creates it. */
export async function readCookieSuffix(state: State): Promise<string> {
  const stored = await findCookieSuffix(state.db);
  if (stored !== undefined) return stored;
  const suffix = randomBytes(SUFFIX_BYTES).toString('hex');
  // Another node may have been faster; then its text counts.
  return state.write(async (tx) => {
    await insertCookieSuffix(tx, suffix);
    return (await findCookieSuffix(tx)) ?? suffix;
  });
}

/** According to the proxy or the browser. A forged header can only make the cookie stricter. */
function isSentByHttps(headers: IncomingHttpHeaders): boolean {
  const forwarded = [headers['x-forwarded-proto'] ?? []].flat().join(',').split(',', 1)[0]?.trim().toLowerCase();
  return forwarded === 'https' || /^https:\/\//i.test(headers.origin ?? '');
}
