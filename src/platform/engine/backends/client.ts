import type { ClickHouseClient } from '@clickhouse/client';
import type { User } from '../../listener/configuration.ts';
import type { Address } from '../../listener/query.ts';

interface Options {
  url: string;
  username?: string;
  password?: string;
  /** Added to every request. */
  headers?: Readonly<Record<string, string>>;
  maxConnections?: number;
}

const MAX_CONNECTIONS = 64;
// Statements have their own limits; this one is for a connection that stops responding.
const REQUEST_TIMEOUT_MS = 15 * 60_000;

/** Loads the client library on first use: most commands need no engine. */
export async function openClient({
  url,
  username,
  password,
  headers = {},
  maxConnections = MAX_CONNECTIONS,
}: Options): Promise<ClickHouseClient> {
  const { ClickHouseLogLevel, createClient } = await import('@clickhouse/client');
  return createClient({
    url,
    application: 'pilothouse',
    request_timeout: REQUEST_TIMEOUT_MS,
    max_open_connections: maxConnections,
    http_headers: headers,
    log: { level: ClickHouseLogLevel.OFF },
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  });
}

/** A client of the embedded engine. */
export const openListenerClient = (
  { host, port, headers }: Address,
  { name, password }: Pick<User, 'name' | 'password'>,
  maxConnections = MAX_CONNECTIONS,
): Promise<ClickHouseClient> =>
  openClient({ url: `http://${host}:${port}`, username: name, password, headers, maxConnections });
