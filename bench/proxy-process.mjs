// A proxy with one service, for bench/proxy.mjs.

import { systemClock } from '../src/kernel/time/clock.ts';
import { hashSecret } from '../src/platform/credentials/secrets.ts';
import { createAttemptLimit } from '../src/platform/http/limits/attempt-limit.ts';
import { createProxy } from '../src/running/proxy/proxy.ts';

const PASSWORD = 'a password';

process.once('message', async (upstream) => {
  const proxy = createProxy({
    clock: systemClock,
    log: { debug() {}, warn() {} },
    host: '127.0.0.1',
    wake: async () => {},
    attempts: createAttemptLimit(systemClock),
    ignoredAgents: [],
    ignoredStatements: ['SELECT 1'],
  });
  const service = { id: 'bench', port: 0, username: 'default', passwordHash: hashSecret(PASSWORD), ipAccessList: [] };
  const port = await proxy.open(service);
  proxy.setUpstream(service.id, upstream);
  const authorization = `Basic ${Buffer.from(`default:${PASSWORD}`).toString('base64')}`;
  process.send({ port, headers: { authorization } });
});
