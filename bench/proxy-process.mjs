// A proxy with one service, for bench/proxy.mjs.

import { systemClock } from '../src/kernel/time/clock.ts';
import { hashSecret } from '../src/platform/credentials/secrets.ts';
import { createAttemptLimit } from '../src/platform/http/limits/attempt-limit.ts';
import { createAuthority, createServerCertificate } from '../src/platform/tls/create-certificate.ts';
import { createProxy } from '../src/running/proxy/proxy.ts';

const PASSWORD = 'a password';

/** A certificate for 127.0.0.1, and its authority. */
function createCertificate() {
  const validity = { validFrom: new Date(Date.now() - 86_400_000), validTo: new Date(Date.now() + 86_400_000) };
  const authority = createAuthority({ name: 'Benchmark', ...validity });
  const options = createServerCertificate({ authority, hosts: ['127.0.0.1'], ...validity });
  return { ca: authority.cert, certificate: { options, follow() {}, close() {} } };
}

process.once('message', async ({ upstream, isEncrypted }) => {
  const { ca, certificate } = isEncrypted ? createCertificate() : {};
  const proxy = createProxy({
    clock: systemClock,
    log: { debug() {}, warn() {} },
    host: '127.0.0.1',
    certificate,
    wake: async () => {},
    attempts: createAttemptLimit(systemClock),
    ignoredAgents: [],
    ignoredStatements: ['SELECT 1'],
  });
  const service = { id: 'bench', port: 0, username: 'default', passwordHash: hashSecret(PASSWORD), ipAccessList: [] };
  const port = await proxy.open(service);
  proxy.setUpstream(service.id, upstream);
  const authorization = `Basic ${Buffer.from(`default:${PASSWORD}`).toString('base64')}`;
  process.send({ port, ca, headers: { authorization } });
});
