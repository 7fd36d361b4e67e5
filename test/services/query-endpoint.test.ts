import { expect, it, vi } from 'vitest';
import { newUuid } from '../../src/kernel/ids.ts';
import { acme, globex } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { useServices } from '../support/running-service.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';

// Starts the process of a service.
vi.setConfig({ testTimeout: 180_000 });

onEachStoreInLongRuns('the query endpoint of a service', (store) => {
  const server = useServer(store, { args: ['--endpoint-ports', '0'] });
  const services = useServices(server);

  /** As clickhousectl sends it: JSON that is called text. */
  async function run(id: string, body: object, key = acme.admin, headers: Record<string, string> = {}, query = '') {
    const response = await fetch(`${server.url}/service/${id}/run${query}`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${key.keyId}:${key.keySecret}`).toString('base64')}`,
        'content-type': 'text/plain;charset=UTF-8',
        'x-service-type': 'clickhouse',
        'auth-provider': 'custom',
        ...headers,
      },
      body: JSON.stringify({ runId: newUuid(), ...body }),
    });
    return { status: response.status, text: await response.text(), headers: response.headers };
  }

  it('runs statements of the keys that it names, with its roles and from its origins only', async () => {
    const { id } = await services.create();
    const { id: keyId, credentials } = await createKey(server, { roles: ['query_endpoints'] });
    const one = { sql: 'SELECT 1 AS x' };
    expect((await run(id, one, credentials)).status).toBe(403);
    const setEndpoint = (roles: string[]) =>
      services.send('POST', `/${id}/serviceQueryEndpoint`, {
        roles,
        openApiKeys: [keyId],
        allowedOrigins: 'https://app.example.com, https://other.example.com',
      });
    expect((await setEndpoint(['sql_console_read_only'])).status).toBe(200);
    expect(await run(id, one, credentials)).toMatchObject({ status: 200, text: '{"x":1}\n' });
    expect((await run(id, one, credentials, {}, '?format=CSVWithNames')).text).toBe('"x"\n1\n');
    const variables = { sql: 'SELECT {a:UInt8} + 1 AS x', queryVariables: { a: '41' }, database: 'system' };
    expect((await run(id, variables, credentials)).text).toBe('{"x":42}\n');
    expect(await run(id, { sql: 'SELEC 1' }, credentials)).toMatchObject({
      status: 400,
      text: expect.stringMatching(/^Syntax error/),
    });
    expect((await run(id, one, credentials, {}, '?format=a%20b')).status).toBe(400);

    // A key that is not named, and one of another organization.
    expect((await run(id, one, acme.admin)).status).toBe(403);
    expect((await run(id, one, globex.admin)).status).toBe(404);
    expect((await run(id, one, { ...credentials, keySecret: 'wrong' })).status).toBe(401);

    const create = { sql: 'CREATE TABLE t (a UInt8) ENGINE = Memory' };
    expect((await run(id, create, credentials)).status).toBe(403);
    await setEndpoint(['sql_console_read_only', 'sql_console_admin']);
    expect((await run(id, create, credentials)).status).toBe(200);

    const allowed = await run(id, one, credentials, { origin: 'https://app.example.com' });
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([
      200,
      'https://app.example.com',
    ]);
    const refused = await run(id, create, credentials, { origin: 'https://evil.example.com' });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    const preflight = await fetch(`${server.url}/service/${id}/run`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.com', 'access-control-request-method': 'POST' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, 'POST']);

    await services.command(id, 'stop');
    await services.untilState(id, 'stopped');
    expect(await run(id, one, credentials)).toMatchObject({ status: 206, text: '{"data":"Service is stopped"}' });
    expect((await services.send('DELETE', `/${id}/serviceQueryEndpoint`)).status).toBe(200);
    expect((await run(id, one, credentials)).status).toBe(403);
  });
});
