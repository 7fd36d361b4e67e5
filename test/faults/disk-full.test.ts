import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { type TestServer, useServer } from '../support/server.ts';
import { expectFailure } from '../support/shapes.ts';
import { untilReady } from '../support/until.ts';

const organization = `/v1/organizations/${acme.id}`;
const service = `${organization}/services/${acme.primary}`;
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;

/** Limits the file size of the running server. Only the soft limit, so that it can be raised again without root. */
const limitFiles = ({ pid }: TestServer, bytes: number | 'unlimited') =>
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);

describe.skipIf(!hasPrlimit)('a full disk on libSQL', () => {
  const server = useServer('libsql', { inProcess: false });

  it('B3: rejects changes with 503, still serves reads, reports the reason at /readyz, and recovers automatically', {
    timeout: 300_000,
  }, async () => {
    const rescale = (numReplicas: number) =>
      server.call({ method: 'PATCH', path: `${service}/scaling`, key: acme.admin, body: { numReplicas } });
    expect((await rescale(4)).status).toBe(200);
    limitFiles(server, 1);

    const attempts = await Promise.all([
      ...[5, 6, 7].map(rescale),
      server.call({ method: 'POST', path: `${organization}/keys`, key: acme.admin, body: { name: 'lost' } }),
    ]);
    for (const response of attempts) {
      expectFailure(service, response, 503);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(response.json.error).toMatch(/^SERVICE_UNAVAILABLE: The state store is not available: /);
    }

    const [read, keys, dashboards] = await Promise.all([
      server.call({ path: service, key: acme.admin }),
      server.call({ path: `${organization}/keys`, key: acme.admin }),
      server.call({ path: '/api/v2/dashboards', token: acme.token }),
    ]);
    expect([read.status, read.json.result?.numReplicas]).toEqual([200, 4]);
    expect(keys.json.result.map(({ name }: { name: string }) => name)).not.toContain('lost');
    expect(dashboards.status).toBe(200);

    const ready = await untilReady(server, 503);
    expect(ready.json).toEqual({
      status: 'not ready',
      message: expect.stringMatching(/^The state store is not available: \S/),
    });
    expect((await server.call({ path: '/healthz' })).status).toBe(200);

    limitFiles(server, 'unlimited');
    await untilReady(server, 200);
    expect((await rescale(8)).json.result?.numReplicas).toBe(8);

    expect(await server.stop('SIGKILL')).toBe(null);
    await server.restart();
    expect((await server.call({ path: service, key: acme.admin })).json.result.numReplicas).toBe(8);
  });

  it('B3: also returns 503 for changes that exceed the page cache and fail inside their transaction', {
    timeout: 300_000,
  }, async () => {
    const names = async () =>
      (await server.call({ path: `${organization}/keys`, key: acme.admin })).json.result
        .map(({ name }: { name: string }) => name)
        .sort();
    const ipAccessList = Array.from({ length: 900 }, (_, index) => ({
      source: `10.0.${index % 250}.0/24`,
      description: 'x'.repeat(1000),
    }));
    const create = (name: string) =>
      server.call({ method: 'POST', path: `${organization}/keys`, key: acme.admin, body: { name, ipAccessList } });
    const before = await names();
    limitFiles(server, 1);
    for (let round = 0; round < 3; round++) {
      const responses = await Promise.all(Array.from({ length: 8 }, (_, index) => create(`large ${round} ${index}`)));
      for (const response of responses) expectFailure(organization, response, 503);
      expect(await names()).toEqual(before);
    }
    limitFiles(server, 'unlimited');
    await untilReady(server, 200);
    expect((await create('fits again')).status).toBe(200);
    expect(await names()).toEqual([...before, 'fits again'].sort());
  });
});
