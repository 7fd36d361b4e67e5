import type { ClickHouseClient } from '@clickhouse/client';

interface Options {
  url: string;
  username?: string;
  password?: string;
}

const MAX_CONNECTIONS = 64;
// Statements have their own limits; this one is for a connection that stops responding.
const REQUEST_TIMEOUT_MS = 15 * 60_000;

/** Loads the client library on first use: most commands need no engine. */
export async function openClient({ url, username, password }: Options): Promise<ClickHouseClient> {
  const { ClickHouseLogLevel, createClient } = await import('@clickhouse/client');
  return createClient({
    url,
    application: 'pilothouse',
    request_timeout: REQUEST_TIMEOUT_MS,
    max_open_connections: MAX_CONNECTIONS,
    log: { level: ClickHouseLogLevel.OFF },
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  });
}
