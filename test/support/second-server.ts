import { join } from 'node:path';
import { createClient } from './client.ts';
import { run, serveInProcess, type TestServer } from './server.ts';

/**
 * A second server on the store of the first, as behind a load balancer. The first must use a ClickHouse server, which
 * the second shares. Stop it before removing the first.
 */
export async function startSecondServer({
  directory,
  databaseUrl,
  args,
  inProcess,
}: TestServer): Promise<Pick<TestServer, 'call' | 'stop' | 'url' | 'log'>> {
  const store =
    databaseUrl === undefined
      ? ['--data', join(directory, 'data')]
      : ['--data', join(directory, 'second'), '--database-url', databaseUrl];
  const running = await (inProcess ? serveInProcess : run)([
    'serve',
    '--port',
    '0',
    '--rate-limit',
    '1000000/10s',
    ...store,
    ...args,
  ]);
  return { ...running, call: createClient(() => running) };
}
