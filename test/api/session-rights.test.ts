import { describe, expect, it } from 'vitest';
import { getServerStore } from '../support/cli.ts';
import type { Call } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { createKey, getKeyId, keysPath } from '../support/keys.ts';
import { formatPath, listOperations } from '../support/operations.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { getSession, postSession, SESSION, signIn } from '../support/sessions.ts';

const organization = `/v1/organizations/${acme.id}`;
const scaling = `${organization}/services/${acme.primary}/scaling`;
const board = `/api/v2/dashboards/${acme.dashboard}`;

onEachStore('a session', (store) => {
  const server = useServer(store, { args: ['--trust-proxy', '127.0.0.1'] });
  const status = async (call: Call) => (await server.call(call)).status;

  describe('without its CSRF token is not authenticated, regardless of the method', () => {
    const calls: Call[] = [
      { path: organization },
      { method: 'HEAD', path: organization },
      { path: '/api/v2/dashboards' },
      { path: board },
      { method: 'PATCH', path: scaling, body: { numReplicas: 9 } },
      { method: 'POST', path: keysPath(), body: { name: 'forged' } },
      { method: 'DELETE', path: `${keysPath()}/0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11` },
      { method: 'POST', path: '/api/v2/dashboards', body: { name: 'forged', tiles: [] } },
      { method: 'PUT', path: board, body: { name: 'forged', tiles: [] } },
      { method: 'DELETE', path: board },
    ];

    it.each(calls)('$method $path', async (call) => {
      const session = await signIn(server, acme.admin);
      const other = await signIn(server, acme.admin);
      const nonce = session.csrf.split('.')[0];
      for (const csrf of [undefined, '', 'wrong', other.csrf, nonce, `${nonce}.`, `.${session.csrf.split('.')[1]}`]) {
        const headers: Record<string, string> = { ...session.cookie };
        if (csrf !== undefined) headers['x-pilothouse-csrf'] = csrf;
        const response = await server.call({ ...call, headers });
        expect(response.status, `csrf ${csrf}`).toBe(401);
        if (call.method !== 'HEAD')
          expect(JSON.stringify(response.json)).toMatch(/No Authorization header provided|API key is missing/);
      }
      const { json } = await server.call({ path: `${organization}/services/${acme.primary}`, key: acme.admin });
      expect(json.result.numReplicas).toBe(3);
      expect((await server.call({ path: '/api/v2/dashboards', token: acme.token })).text).not.toContain('forged');
    });
  });

  it('gets a challenge that opens no password dialog; scripts get the usual one', async () => {
    const challenge = async (headers: Record<string, string>, path = organization) =>
      (await server.call({ path, headers })).headers.get('www-authenticate');
    expect(await challenge({ 'x-pilothouse-csrf': 'old' })).toBe('Session realm="pilothouse"');
    expect(await challenge({ 'x-pilothouse-csrf': '' }, board)).toBe('Session realm="pilothouse"');
    expect(await challenge({})).toMatch(/^Basic /);
    expect(await challenge({}, board)).toMatch(/^Bearer /);
    expect(await challenge({ 'x-pilothouse-csrf': 'old', authorization: 'Basic xx' })).toMatch(/^Basic /);
  });

  it('is used only without an Authorization header', async () => {
    const { headers } = await signIn(server, acme.admin);
    for (const authorization of ['', 'Basic xx', 'Bearer xx'])
      for (const path of [organization, board])
        expect(await status({ path, headers: { ...headers, authorization } }), authorization).toBe(401);
    const key = await server.call({ method: 'PATCH', path: scaling, key: acme.developer, headers, body: {} });
    expect(key.status, 'the weaker key of the header is the one that counts').toBe(403);
  });

  it('R1: has exactly the permissions of its key on the management API', async () => {
    const operations = (await listOperations(server, '/v1')).filter(({ method }) => method === 'GET');
    const keyId = await getKeyId(server, 'admin');
    const keys = { admin: acme.admin, developer: acme.developer, query_endpoints: acme.query };
    for (const [role, key] of Object.entries(keys)) {
      const { headers } = await signIn(server, key);
      for (const operation of operations) {
        const any = Object.fromEntries(operation.parameters.map((name) => [name, acme.primary]));
        const path = formatPath(operation, { ...any, organizationId: acme.id, keyId });
        const expected = await status({ path, key });
        expect(await status({ path, headers }), `${role}: ${operation.id}`).toBe(expected);
        expect(expected === 403, `${role}: ${operation.id}`).toBe(!operation.roles.includes(role));
      }
    }
  });

  it('R1: admin changes dashboards, developer reads them, query_endpoints has no access', async () => {
    const [admin, developer, query] = [
      await signIn(server, acme.admin),
      await signIn(server, acme.developer),
      await signIn(server, acme.query),
    ];
    const body = { name: 'By session', tiles: [] };
    const createSession = await server.call({
      method: 'POST',
      path: '/api/v2/dashboards',
      headers: admin.headers,
      body,
    });
    expect(createSession.status, createSession.text).toBe(200);
    const path = `/api/v2/dashboards/${createSession.json.data.id}`;
    expect(await status({ path, headers: admin.headers })).toBe(200);
    expect(await status({ path, headers: developer.headers })).toBe(200);
    const rejected = await server.call({ method: 'DELETE', path, headers: developer.headers });
    expect([rejected.status, rejected.json]).toEqual([403, { message: 'This operation needs the role admin' }]);
    for (const [method, there] of [
      ['GET', path],
      ['GET', '/api/v2/dashboards'],
      ['DELETE', path],
    ] as const)
      expect(await status({ method, path: there, headers: query.headers }), method).toBe(403);
    expect(await status({ method: 'DELETE', path, headers: admin.headers })).toBe(200);
    expect(await status({ method: 'PATCH', path: scaling, headers: admin.headers, body: {} })).toBe(200);
    expect(await status({ method: 'PATCH', path: scaling, headers: developer.headers, body: {} })).toBe(403);
  });

  it('R2: of a token works for dashboards only', async () => {
    const [reader, writer] = [
      await signIn(server, { token: acme.token }),
      await signIn(server, { token: acme.writer }),
    ];
    for (const { method, path, parameters } of await listOperations(server, '/v1')) {
      const values = Object.fromEntries(parameters.map((name) => [name, acme.primary]));
      const filled = formatPath(
        { method, path, parameters, id: '', roles: [] },
        { ...values, organizationId: acme.id },
      );
      for (const { headers } of [reader, writer]) {
        const response = await server.call({ method, path: filled, headers });
        expect(response.status, `${method} ${path}`).toBe(403);
        expect(response.json.error).toMatch(/^FORBIDDEN: You are signed in with a dashboard token/);
      }
    }
    const body = { name: 'By token', tiles: [] };
    expect(await status({ path: board, headers: reader.headers })).toBe(200);
    expect(await status({ method: 'POST', path: '/api/v2/dashboards', headers: reader.headers, body })).toBe(403);
    expect(await status({ method: 'POST', path: '/api/v2/dashboards', headers: writer.headers, body })).toBe(200);
  });

  it('M4: sees nothing of another organization', async () => {
    const { headers } = await signIn(server, globex.admin);
    expect(await status({ path: organization, headers })).toBe(404);
    expect(await status({ path: board, headers })).toBe(404);
    expect((await server.call({ path: '/api/v2/dashboards', headers })).text).not.toContain('Acme');
  });

  describe('K9: follows its key from the next request on', () => {
    const change = (id: string, body: object) =>
      server.call({ method: 'PATCH', path: `${keysPath()}/${id}`, key: acme.admin, body });
    const createSession = async (roles = ['admin']) => {
      const { id, credentials } = await createKey(server, { name: 'watched', roles });
      const session = await signIn(server, credentials);
      const statuses = async () => [
        await status({ path: organization, headers: session.headers }),
        await status({ path: board, headers: session.headers }),
        (await getSession(server, session)).status,
      ];
      expect(await statuses()).toEqual([200, 200, 200]);
      return { id, credentials, session, statuses };
    };

    it('when it is disabled, and enabled again', async () => {
      const { id, statuses } = await createSession();
      await change(id, { state: 'disabled' });
      expect(await statuses()).toEqual([401, 401, 401]);
      await change(id, { state: 'enabled' });
      expect(await statuses()).toEqual([200, 200, 200]);
    });

    it('when it is deleted', async () => {
      const { id, statuses } = await createSession();
      expect(await status({ method: 'DELETE', path: `${keysPath()}/${id}`, key: acme.admin })).toBe(200);
      expect(await statuses()).toEqual([401, 401, 401]);
    });

    it('when its address list changes', async () => {
      const { id, credentials, session, statuses } = await createSession();
      await change(id, { ipAccessList: [{ source: '203.0.113.7' }] });
      expect(await statuses()).toEqual([403, 403, 403]);
      expect((await postSession(server, credentials)).status).toBe(403);
      const from = { 'x-forwarded-for': '203.0.113.7' };
      expect(await status({ path: organization, headers: { ...session.headers, ...from } })).toBe(200);
      expect((await postSession(server, credentials, from)).status).toBe(200);
    });

    it('when its roles change', async () => {
      const { id, session, statuses } = await createSession();
      await change(id, { roles: ['developer'] });
      expect(await statuses()).toEqual([200, 200, 200]);
      expect(await status({ method: 'PATCH', path: scaling, headers: session.headers, body: {} })).toBe(403);
      expect((await getSession(server, session)).json).toMatchObject({
        access: 'read',
        credential: { roles: ['developer'] },
      });
      await change(id, { roles: ['query_endpoints'] });
      expect(await statuses()).toEqual([403, 403, 200]);
    });

    it('when it is rotated without a grace period', async () => {
      const { id, statuses } = await createSession();
      const { code, stderr } = await getServerStore(server).run(
        'key',
        'rotate',
        id,
        '--grace',
        '0',
        '--org',
        acme.id,
        '--json',
      );
      expect(code, stderr).toBe(0);
      expect(await statuses()).toEqual([401, 401, 401]);
    });

    it('and its token, when the token is deleted', async () => {
      const path = `${organization}/dashboardTokens`;
      const { json } = await server.call({ method: 'POST', path, key: acme.admin, body: { name: 'watched' } });
      const session = await signIn(server, { token: json.result.token });
      expect(await status({ path: board, headers: session.headers })).toBe(200);
      await server.call({ method: 'DELETE', path: `${path}/${json.result.dashboardToken.id}`, key: acme.admin });
      expect(await status({ path: board, headers: session.headers })).toBe(401);
      expect((await getSession(server, session)).status).toBe(401);
    });
  });

  it('is audited under its key and counts as a use of it', async () => {
    const { id, credentials } = await createKey(server, { name: 'clerk', roles: ['admin'] });
    const { headers } = await signIn(server, credentials);
    const sent = { ...headers, 'x-forwarded-for': '203.0.113.9', 'user-agent': 'a browser' };
    const { json } = await server.call({ method: 'POST', path: keysPath(), headers: sent, body: { name: 'made' } });
    const activities = await server.call({ path: `${organization}/activities?limit=1`, key: acme.admin });
    expect(activities.json.result[0]).toMatchObject({
      type: 'key_create',
      actorType: 'api',
      actorId: id,
      actorDetails: 'clerk',
      actorIpAddress: '203.0.113.9',
      userAgent: 'a browser',
      resourceId: json.result.key.id,
    });
    const itself = await server.call({ method: 'DELETE', path: `${keysPath()}/${id}`, headers });
    expect(itself.status, 'a key cannot delete itself, in a session neither').toBe(409);
  });
});

onEachStore('sign-in attempts', (store) => {
  const server = useServer(store, { args: ['--trust-proxy', '127.0.0.1', '--rate-limit', '3/600s'] });

  it('B7: failed ones share the limit of the address, and credentials accepted there before still pass', async () => {
    const from = { 'x-forwarded-for': '198.51.100.1' };
    const session = await signIn(server, acme.admin, from);
    const wrong = { ...acme.admin, keySecret: 'wrong' };
    for (let i = 0; i < 150; i++) expect((await postSession(server, wrong, from)).status).toBe(401);
    for (let i = 0; i < 150; i++)
      expect((await server.call({ path: organization, key: wrong, headers: from })).status).toBe(401);
    const rejected = await postSession(server, wrong, from);
    expect([rejected.status, rejected.json.message]).toEqual([429, expect.stringMatching(/^Too many failed attempts/)]);
    expect(rejected.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
    const stale = { cookie: `${session.cookieName}=${'a'.repeat(43)}`, ...from };
    expect((await server.call({ path: SESSION, headers: stale })).status).toBe(429);
    expect((await server.call({ path: SESSION, headers: from })).status, 'nothing was attempted').toBe(401);
    expect((await postSession(server, acme.admin, from)).status).toBe(200);
    expect((await server.call({ path: SESSION, headers: { ...session.headers, ...from } })).status).toBe(200);
    expect((await server.call({ path: organization, key: acme.admin, headers: from })).status).toBe(200);
    expect((await postSession(server, acme.developer, from)).status, 'not used there before').toBe(429);
    expect((await postSession(server, wrong, { 'x-forwarded-for': '198.51.100.2' })).status).toBe(401);
  });

  it('B7: successful ones are limited per credential', async () => {
    for (const expected of [200, 200, 200, 429])
      expect((await postSession(server, globex.admin)).status).toBe(expected);
    expect((await postSession(server, { token: acme.token })).status).toBe(200);
  });

  it('B7: a session and its key share one limit', async () => {
    const { headers } = await signIn(server, acme.developer);
    const remaining = async (call: Call) => (await server.call(call)).headers.get('x-ratelimit-remaining');
    expect(await remaining({ path: organization, key: acme.developer })).toBe('2');
    expect(await remaining({ path: organization, headers })).toBe('1');
    expect(await remaining({ path: organization, key: acme.developer })).toBe('0');
    expect((await server.call({ path: organization, headers })).status).toBe(429);
  });
});
