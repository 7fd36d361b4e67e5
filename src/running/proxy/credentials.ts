import type { IncomingMessage } from 'node:http';
import type { Exception } from './exceptions.ts';
import { toPrintable } from './exceptions.ts';
import type { RequestUrl } from './request-url.ts';

export interface Credentials {
  user: string;
  password: string;
}

const invalid = (text: string): Exception => ({ name: 'AUTHENTICATION_FAILED', text });

/** The user that ClickHouse assumes when none is named. */
const DEFAULT_USER = 'default';

/**
 * Reads the credentials from where ClickHouse does, and rejects what it rejects: the X-ClickHouse headers together with
 * another way. Parameters replace the parts of Basic authentication.
 */
export function readCredentials({ headers }: IncomingMessage, url: RequestUrl): Credentials | Exception {
  const user = headers['x-clickhouse-user'];
  const key = headers['x-clickhouse-key'];
  if (user || key || headers['x-clickhouse-ssl-certificate-auth']) {
    if (!user) return invalid('Got an empty user name from X-ClickHouse HTTP headers');
    if (headers.authorization)
      return invalid(
        'Invalid authentication: it is not allowed to use X-ClickHouse HTTP headers and Authorization HTTP header simultaneously',
      );
    if (url.user !== undefined || url.password !== undefined)
      return invalid(
        'Invalid authentication: it is not allowed to use X-ClickHouse HTTP headers and authentication via parameters simultaneously',
      );
    return { user: toUtf8(String(user)), password: toUtf8(String(key ?? '')) };
  }
  const basic = headers.authorization ? parseBasic(headers.authorization) : undefined;
  if (basic && 'name' in basic) return basic;
  return { user: url.user ?? basic?.user ?? DEFAULT_USER, password: url.password ?? basic?.password ?? '' };
}

/** Node reads the bytes of headers as Latin-1. */
const toUtf8 = (text: string): string => Buffer.from(text, 'latin1').toString('utf8');

function parseBasic(header: string): Credentials | Exception {
  const space = header.indexOf(' ');
  const scheme = space < 0 ? header : header.slice(0, space);
  if (scheme.toLowerCase() !== 'basic')
    return invalid(`Invalid authentication: '${toPrintable(scheme)}' HTTP Authorization scheme is not supported`);
  const text = Buffer.from(header.slice(space + 1), 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? { user: text, password: '' } : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * The answers of ClickHouse 26.7 to a wrong password: 401 with a challenge for `default`, 403 for any other user. The
 * advice on where to reset the password is left out, because it is about other products.
 */
export const toRejection = (user: string): Exception => ({
  name: user === DEFAULT_USER ? 'REQUIRED_PASSWORD' : 'AUTHENTICATION_FAILED',
  text: `${toPrintable(user)}: Authentication failed: password is incorrect, or there is no user with such name`,
});
