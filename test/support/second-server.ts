import { join } from 'node:path';
import { createClient } from './client.ts';
import { run, type TestServer } from './server.ts';

/** A second server on the store of the first, as behind a load balancer. Stop it before removing the first. */
export async function startSecondServer({
  directory,
  databaseUrl,
}: TestServer): Promise<Pick<TestServer, 'call' | 'stop'>> {
  const store = databaseUrl === undefined ? ['--data', join(directory, 'data')] : ['--database-url', databaseUrl];
  const running = await run(['serve', '--port', '0', '--rate-limit', '1000000/10s', ...store]);
  return { call: createClient(() => running), stop: running.stop };
}
