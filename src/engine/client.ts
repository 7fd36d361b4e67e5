import type { ClickHouseClient } from '@clickhouse/client';

interface Options {
  url: string;
  username?: string;
  password?: string;
}

const MAX_CONNECTIONS = 64;
// Every statement has a limit of its own; this is for a connection that nobody answers on.
const REQUEST_TIMEOUT_MS = 15 * 60_000;

/** Loaded when the first client is made: most commands never talk to an engine. */
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
