import type { IncomingMessage } from 'node:http';
import type { Upstream } from '../../management/services/driver.ts';

/** Of one connection, not of the message: RFC 9110, 7.6.1. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** What the proxy decides: the credentials, the target, the address of the client, and when a body may be sent. */
const OWN = [
  'authorization',
  'x-clickhouse-user',
  'x-clickhouse-key',
  'x-clickhouse-ssl-certificate-auth',
  'host',
  'expect',
  'forwarded',
  'x-forwarded-for',
  // Cookies ignore the port: those of the console on the same host arrive here too. A query can read the headers.
  'cookie',
];

export interface RequestHeaders {
  /** Those that every request to ClickHouse has. */
  own: readonly string[];
  /** The names and values of the request to ClickHouse, alternating. */
  build(request: IncomingMessage, address: string): string[];
}

/** The headers of the upstream replace those of the client with the same names. */
export function createRequestHeaders({ host, port, headers }: Upstream): RequestHeaders {
  const dropped = new Set([...HOP_BY_HOP, ...OWN, ...Object.keys(headers).map((name) => name.toLowerCase())]);
  const own = ['Host', `${host.includes(':') ? `[${host}]` : host}:${port}`, ...Object.entries(headers).flat()];
  return {
    own,
    build(request, address) {
      const names = [...own, 'X-Forwarded-For', address];
      copyHeaders(request.rawHeaders, names, dropped, request.headers.connection);
      if (request.headers['transfer-encoding'] !== undefined) names.push('Transfer-Encoding', 'chunked');
      // Without it node:http would send an empty body in chunks.
      else if (request.headers['content-length'] === undefined && !isBodiless(request.method))
        names.push('Content-Length', '0');
      return names;
    },
  };
}

const isBodiless = (method: string | undefined): boolean => method === 'GET' || method === 'HEAD';

/**
 * The headers of a response that reach the client, in addition to X-ClickHouse-*. A query can set any header
 * (`http_response_headers`), and some act on the whole host, which may also be that of the console: Set-Cookie,
 * Clear-Site-Data, Strict-Transport-Security. Others make a browser leave the page or trust another site.
 */
const RESPONSE_HEADERS = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-type',
  'date',
  'etag',
  'expires',
  'last-modified',
  'retry-after',
  'vary',
]);
const CLICKHOUSE_PREFIX = 'x-clickhouse-';

/** On every response of an endpoint: a browser must not run it, even if a query calls it HTML. */
export const ENDPOINT_SECURITY_HEADERS = {
  'Content-Security-Policy': "sandbox; default-src 'none'",
  'X-Content-Type-Options': 'nosniff',
};

const isResponseHeader = (name: string): boolean => RESPONSE_HEADERS.has(name) || name.startsWith(CLICKHOUSE_PREFIX);

/** The names and values of the response to the client, alternating. */
export const toResponseHeaders = ({ rawHeaders }: IncomingMessage): string[] => [
  ...selectResponseHeaders(rawHeaders),
  ...Object.entries(ENDPOINT_SECURITY_HEADERS).flat(),
];

/** Those of these names and values that reach the client. */
export function selectResponseHeaders(from: readonly string[]): string[] {
  const selected: string[] = [];
  for (let i = 0; i + 1 < from.length; i += 2) {
    const [name = '', value = ''] = [from[i], from[i + 1]];
    if (isResponseHeader(name.toLowerCase())) selected.push(name, value);
  }
  return selected;
}

/** The header `Connection` may name further headers of one connection. */
function copyHeaders(from: string[], to: string[], dropped: Set<string>, connection: string | undefined): void {
  const named = connection === undefined || isUsual(connection) ? undefined : listNames(connection);
  for (let i = 0; i + 1 < from.length; i += 2) {
    const [name = '', value = ''] = [from[i], from[i + 1]];
    const lower = name.toLowerCase();
    if (!dropped.has(lower) && !named?.includes(lower)) to.push(name, value);
  }
}

const isUsual = (connection: string): boolean => /^(keep-alive|close)$/i.test(connection);

/** A client must not use it to remove the length of its body. */
const listNames = (connection: string): string[] =>
  connection
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== 'content-length');
