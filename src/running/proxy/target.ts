import { Agent, type IncomingMessage } from 'node:http';
import type { NativeUpstream, SqlRole, Upstream } from '../../management/services/driver.ts';
import { SQL_HEADER } from './sql-caller.ts';

/** An upstream and the connections to it. */
export interface Target {
  host: string;
  port: number;
  agent: Agent;
  headers: RequestHeaders;
  /** Those of the control plane's own users; undefined if the service has none. */
  sqlHeaders: Record<SqlRole | 'stopper', RequestHeaders> | undefined;
  /** Undefined if the service has no native interface. */
  native: NativeUpstream | undefined;
  /** Closes the connections that carry no query. */
  close(): void;
}

/** Shorter than the time after which ClickHouse closes an idle connection, so that no query is sent to a closing one. */
const IDLE_CONNECTION_MS = 2000;
const MAX_IDLE_CONNECTIONS = 256;

export function createTarget(upstream: Upstream): Target {
  const agent = new Agent({
    keepAlive: true,
    noDelay: true,
    scheduling: 'lifo',
    maxFreeSockets: MAX_IDLE_CONNECTIONS,
    timeout: IDLE_CONNECTION_MS,
  });
  return {
    host: upstream.host,
    port: upstream.port,
    agent,
    headers: createRequestHeaders(upstream),
    sqlHeaders: upstream.sqlUsers && {
      reader: createRequestHeaders({ ...upstream, headers: upstream.sqlUsers.reader }),
      admin: createRequestHeaders({ ...upstream, headers: upstream.sqlUsers.admin }),
      stopper: createRequestHeaders({ ...upstream, headers: upstream.sqlUsers.stopper }),
    },
    native: upstream.native,
    close() {
      // Connections that are in use are closed after their response instead of being kept.
      agent.maxFreeSockets = 0;
      for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    },
  };
}

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
  SQL_HEADER,
];

export interface RequestHeaders {
  /** The headers that every request to ClickHouse has. */
  own: readonly string[];
  /** The names and values of the request to ClickHouse, alternating. */
  build(request: IncomingMessage, address: string): string[];
}

/** The headers of the upstream replace those of the client with the same names. */
function createRequestHeaders({ host, port, headers }: Upstream): RequestHeaders {
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
