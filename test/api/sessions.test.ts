import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Call } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { getKeyId } from '../support/keys.ts';
import { startSecondServer } from '../support/second-server.ts';
import { onEachStore, onEachStoreInLongRuns, startServer, useServer } from '../support/server.ts';
import { getSession, postSession, SESSION, signIn } from '../support/sessions.ts';
import { expectFailure } from '../support/shapes.ts';
import { readStoreText } from '../support/store-text.ts';

const organization = `/v1/organizations/${acme.id}`;
const CHALLENGE = 'Session realm="pilothouse"';

onEachStore('signing in', (store) => {
  const server = useServer(store, { sharedEngine: true });

  it('with a key returns the credential, its permissions and the expiry', async () => {
    const response = await postSession(server, acme.admin);
    expect(response.status, response.text).toBe(200);
    expect(response.json).toEqual({
      csrf: expect.stringMatching(/^[\w-]{22}\.[\w-]{43}$/),
      kind: 'key',
      organization: { id: acme.id, name: 'Acme', tier: 'SCALE', paid: true },
      credential: { id: await getKeyId(server, 'admin'), name: 'admin', roles: ['admin'] },
      organizations: [{ id: acme.id, name: 'Acme' }],
      operations: expect.arrayContaining(['instanceGet', 'openapiKeyCreate', 'listDashboards']),
      address: '127.0.0.1',
      access: 'write',
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['read', acme.token, 'wallboard'],
    ['write', acme.writer, 'editor'],
  ])('with a token of %s works for dashboards', async (access, token, name) => {
    const { json } = await signIn(server, { token });
    expect(json).toMatchObject({ kind: 'token', access, credential: { name, roles: [] } });
  });

  it.each([
    ['developer', acme.developer, 'read'],
    ['query', acme.query, 'none'],
  ])('the key %s has access to dashboards by its roles', async (name, key, access) => {
    expect((await signIn(server, key)).json).toMatchObject({ access, credential: { name } });
  });

  it('sets a cookie that scripts cannot read and other sites cannot send', async () => {
    const { headers } = await postSession(server, acme.admin);
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^pilothouse_session_[0-9a-f]{32}=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
      ),
    ]);
  });

  it.each([
    ['a proxy', { 'x-forwarded-proto': 'https' }],
    ['a chain of proxies', { 'x-forwarded-proto': 'https, http' }],
    ['the browser', { origin: 'https://pilothouse.example' }],
  ])('the cookie is Secure and bound to the host if %s indicates HTTPS', async (_, headers) => {
    const response = await postSession(server, acme.admin, headers);
    const [, name = '', secret = ''] =
      /^(__Host-pilothouse_session_[0-9a-f]{32})=([\w-]{43}); Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/.exec(
        response.headers.get('set-cookie') ?? '',
      ) ?? [];
    expect(secret).not.toBe('');
    const cookie = `${name}=${secret}`;
    const session = { cookie, 'x-pilothouse-csrf': response.json.csrf };
    // With and without the sign of HTTPS: a browser sends Origin only with some requests.
    for (const more of [{}, headers])
      for (const path of [SESSION, organization, '/api/v2/dashboards'])
        expect((await server.call({ path, headers: { ...session, ...more } })).status, path).toBe(200);
    const signedOut = await server.call({ method: 'DELETE', path: SESSION, headers: session });
    expect(signedOut.headers.get('set-cookie')).toBe(`${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure`);
    expect((await server.call({ path: organization, headers: session })).status).toBe(401);
  });

  it('over HTTPS, a cookie without the prefix is ignored: another host of the domain may have set it', async () => {
    const { cookieName, secret, headers } = await signIn(server, acme.admin);
    const https = { 'x-forwarded-proto': 'https' };
    for (const path of [SESSION, organization])
      expect((await server.call({ path, headers: { ...headers, ...https } })).status, path).toBe(401);
    const protectedCookie = { cookie: `${cookieName}=${'x'.repeat(43)}; __Host-${cookieName}=${secret}` };
    expect((await server.call({ path: SESSION, headers: protectedCookie })).status).toBe(200);
  });

  it('a session cannot be fixed: a cookie with a name that a page on another port can know is ignored', async () => {
    const { cookieName, secret, csrf } = await signIn(server, acme.developer);
    const names = ['pilothouse_session', '__Host-pilothouse_session', `pilothouse_session_${'0'.repeat(32)}`];
    for (const name of [...names, cookieName.toUpperCase(), `${cookieName}_`])
      for (const path of [SESSION, organization]) {
        const headers = { cookie: `${name}=${secret}`, 'x-pilothouse-csrf': csrf };
        expect((await server.call({ path, headers })).status, name).toBe(401);
      }
    // A session that was planted under the old name does not replace the one of the victim.
    const victim = await signIn(server, acme.admin);
    const planted = `pilothouse_session=${secret}; ${victim.cookie.cookie}`;
    const found = await server.call({ path: SESSION, headers: { cookie: planted } });
    expect(found.json.credential.name).toBe('admin');
  });

  it('never returns the same secret or CSRF token twice', async () => {
    const all = [await signIn(server, acme.admin), await signIn(server, acme.admin)];
    expect(new Set(all.flatMap(({ secret, csrf }) => [secret, csrf])).size).toBe(4);
  });

  it('M5: returns 401 for bad credentials, the same for an unknown id and a wrong secret', async () => {
    const rejected: [unknown, string][] = [
      [{ ...acme.admin, keySecret: 'wrong' }, 'Key is not found'],
      [{ ...acme.admin, keyId: 'unknown' }, 'Key is not found'],
      [acme.disabled, 'Key is not active'],
      [acme.expired, 'Key is not active'],
      [{ token: 'unknown' }, 'Token is not found'],
      [{ token: acme.admin.keySecret }, 'Token is not found'],
    ];
    for (const [body, message] of rejected) {
      const response = await postSession(server, body);
      expect([response.status, response.json], JSON.stringify(body)).toEqual([401, { message }]);
      expect(response.headers.has('set-cookie')).toBe(false);
      expect(response.headers.get('www-authenticate')).toBe(CHALLENGE);
    }
  });

  it.each<[string, unknown, string[]]>([
    ['nothing', {}, ['keyId', 'keySecret']],
    ['a key id without a secret', { keyId: 'a' }, ['keySecret']],
    ['an empty secret', { keyId: 'a', keySecret: '' }, ['keySecret']],
    ['a number', { keyId: 'a', keySecret: 90210 }, ['keySecret']],
    ['both', { ...acme.admin, token: acme.token }, ['token']],
    ['a token that is too long', { token: 'a-secret-to-hide'.repeat(300) }, ['token']],
  ])('%s returns 400 with the field name and without the secret', async (_, body, fields) => {
    const { status, json, text } = await postSession(server, body);
    expect(status, text).toBe(400);
    expect(json.errors.map(({ path }: { path: string }) => path)).toEqual(fields);
    for (const secret of ['90210', 'a-secret-to-hide', acme.admin.keySecret, acme.token])
      expect(text).not.toContain(secret);
  });

  it('accepts only JSON, so that a form of another site cannot sign in', async () => {
    const headers = { 'content-type': 'text/plain' };
    const text = JSON.stringify(acme.admin);
    expectFailure(SESSION, await server.call({ method: 'POST', path: SESSION, text, headers }), 415);
    const long = { token: 'a'.repeat(20_000) };
    expectFailure(SESSION, await postSession(server, long), 413);
  });

  it('GET returns the same with a new CSRF token, and earlier tokens stay valid', async () => {
    const session = await signIn(server, acme.admin);
    const again = await getSession(server, session);
    expect(again.status).toBe(200);
    expect(again.json).toEqual({ ...session.json, csrf: again.json.csrf });
    expect(again.json.csrf).not.toBe(session.csrf);
    expect(again.headers.get('cache-control')).toBe('no-store');
    expect(again.headers.has('set-cookie')).toBe(false);
    for (const csrf of [session.csrf, again.json.csrf]) {
      const headers = { ...session.cookie, 'x-pilothouse-csrf': csrf };
      expect((await server.call({ path: organization, headers })).status).toBe(200);
    }
  });

  it('GET without a session returns 401 and opens no password dialog', async () => {
    const { cookieName: name } = await signIn(server, acme.admin);
    for (const cookie of ['', 'other=1', `${name}=${'a'.repeat(43)}`, `${name}=a`]) {
      const response = await server.call({ path: SESSION, headers: { cookie } });
      expectFailure(SESSION, response, 401);
      expect(response.headers.get('www-authenticate')).toBe(CHALLENGE);
    }
  });

  it('finds the session among other cookies', async () => {
    const { cookieName, secret } = await signIn(server, acme.admin);
    const cookie = `a=b; ${cookieName}=${secret}; ${cookieName}=${'b'.repeat(43)}; c`;
    expect((await server.call({ path: SESSION, headers: { cookie } })).status).toBe(200);
  });

  it('signing out ends only this session and deletes the cookie', async () => {
    const [session, other] = [await signIn(server, acme.admin), await signIn(server, acme.admin)];
    const response = await server.call({ method: 'DELETE', path: SESSION, headers: session.headers });
    expect([response.status, response.json]).toEqual([200, {}]);
    expect(response.headers.get('set-cookie')).toBe(
      `${session.cookieName}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`,
    );
    expect((await getSession(server, session)).status).toBe(401);
    for (const path of [organization, '/api/v2/dashboards'])
      expect((await server.call({ path, headers: session.headers })).status).toBe(401);
    expect((await getSession(server, other)).status).toBe(200);
  });

  it('B3: signing out without a session is a 401, which deletes the cookie of a session that has ended', async () => {
    const session = await signIn(server, acme.admin);
    await server.call({ method: 'DELETE', path: SESSION, headers: session.headers });
    const unknown = { cookie: `${session.cookieName}=${'a'.repeat(43)}` };
    for (const headers of [{}, session.headers, session.cookie, unknown]) {
      const response = await server.call({ method: 'DELETE', path: SESSION, headers });
      expectFailure(SESSION, response, 401);
      expect(response.headers.get('www-authenticate')).toBe(CHALLENGE);
      expect(response.headers.get('set-cookie')).toBe(
        `${session.cookieName}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`,
      );
    }
  });

  it('signing in again ends the previous session of the browser', async () => {
    const session = await signIn(server, acme.admin);
    const next = await signIn(server, acme.developer, session.cookie);
    expect((await getSession(server, session)).status).toBe(401);
    expect((await getSession(server, next)).json.credential.name).toBe('developer');
  });

  it('rejects other sites, and no response has CORS headers', async () => {
    const session = await signIn(server, acme.admin);
    const calls: Call[] = [
      { path: SESSION },
      { method: 'POST', path: SESSION, body: acme.admin },
      { method: 'DELETE', path: SESSION },
    ];
    for (const site of ['cross-site', 'same-site'])
      for (const call of calls) {
        const headers = { ...session.headers, 'sec-fetch-site': site, origin: 'https://elsewhere.example' };
        const response = await server.call({ ...call, headers });
        expect(response.status, `${call.method} from ${site}`).toBe(403);
        expect(response.headers.has('set-cookie')).toBe(false);
      }
    expect((await getSession(server, session)).status, 'still signed in').toBe(200);
    const origin = { origin: 'https://elsewhere.example', 'access-control-request-method': 'DELETE' };
    for (const path of [SESSION, organization, '/api/v2/dashboards', '/console/config', '/']) {
      for (const method of ['GET', 'OPTIONS']) {
        const { headers } = await server.call({ method, path, headers: { ...session.headers, ...origin } });
        expect(
          [...headers.keys()].filter((name) => name.startsWith('access-control')),
          path,
        ).toEqual([]);
      }
    }
  });

  it('the store contains neither the cookie nor the CSRF token', async () => {
    const { secret, csrf } = await signIn(server, acme.admin);
    const text = await readStoreText(server);
    expect(text).toContain(createHash('sha256').update(secret).digest('base64'));
    for (const confidential of [secret, csrf]) expect(text).not.toContain(confidential);
  });

  it('a session works and ends on every node', async () => {
    const second = await startSecondServer(server);
    try {
      const session = await signIn(server, acme.admin);
      expect((await second.call({ path: organization, headers: session.headers })).status).toBe(200);
      await second.call({ method: 'DELETE', path: SESSION, headers: session.headers });
      expect((await server.call({ path: organization, headers: session.headers })).status).toBe(401);
    } finally {
      await second.stop();
    }
  });

  it('a session survives a restart of the server', async () => {
    const session = await signIn(server, acme.admin);
    await server.stop();
    await server.restart();
    expect((await server.call({ path: organization, headers: session.headers })).status).toBe(200);
  });
});

describe('the console configuration', () => {
  const server = useServer('libsql');

  it('has the base path and version, and no credentials', async () => {
    const { status, json, headers } = await server.call({ path: '/console/config' });
    const version = expect.stringMatching(/^\d+\./);
    const fixed = {
      basePath: '',
      demo: null,
      defaultDriver: 'simulated',
      needsSetup: false,
      provider: null,
      allowsKeys: true,
    };
    const otlp = { otlpUrl: `${server.url}/otlp`, otlpGrpcPort: null };
    expect([status, json]).toEqual([200, { ...fixed, ...otlp, version }]);
    expect(headers.get('cache-control')).toBe('no-cache');
  });

  it('returns 404 for unknown paths and 405 for other methods', async () => {
    expectFailure('/console/x', await server.call({ path: '/console/x', headers: { accept: 'text/html' } }), 404);
    const response = await server.call({ method: 'PUT', path: SESSION });
    expectFailure(SESSION, response, 405);
    expect(response.headers.get('allow')).toBe('DELETE, GET, HEAD, POST');
  });
});

describe('with a separate dashboard port', () => {
  const server = useServer('libsql', { args: ['--dashboard-port', '0'] });

  it('the console has no dashboards and is served on the main port only', async () => {
    expect((await signIn(server, acme.admin)).json.access).toBe('none');
    expect((await fetch(`${server.dashboardUrl}/console/config`)).status).toBe(404);
  });
});

onEachStoreInLongRuns('the session log', (store) => {
  it('names the operation and the key, and contains no secret, cookie or CSRF token', async () => {
    const server = await startServer(store, { args: ['--log-level', 'trace'] });
    try {
      const session = await signIn(server, acme.admin);
      const token = await signIn(server, { token: acme.writer });
      const wrong = { keyId: acme.admin.keyId, keySecret: 'a-wrong-secret' };
      await postSession(server, wrong);
      await postSession(server, { token: 'a-wrong-token' });
      await postSession(server, { keyId: 'a', keySecret: 12345678 });
      await getSession(server, session);
      await server.call({ path: organization, headers: session.headers });
      await server.call({ path: organization, headers: { ...session.headers, 'x-pilothouse-csrf': 'a-wrong-csrf' } });
      await server.call({ path: '/api/v2/dashboards', headers: token.headers });
      await server.call({ method: 'DELETE', path: SESSION, headers: session.headers });
      await getSession(server, session);
      await server.stop();
      const log = server.log();
      expect(log).toMatch(/"operation":"consoleSignIn","key":"0001","status":200/);
      expect(log).toMatch(/"operation":"consoleSignIn","status":401/);
      expect(log).toMatch(/"operation":"consoleSignOut","status":200/);
      const hash = createHash('sha256').update(session.secret).digest('base64');
      const confidential = [
        session.secret,
        session.csrf,
        token.secret,
        token.csrf,
        hash,
        acme.admin.keySecret,
        acme.writer,
      ];
      for (const text of [...confidential, 'a-wrong-', '12345678', 'pilothouse_session'])
        expect(log).not.toContain(text);
    } finally {
      await server.remove();
    }
  });
});
