import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme, fleet, globex } from '../support/fleet.ts';
import { createBrowser, useProvider } from '../support/oidc.ts';
import { onEachStore, startServer, type TestServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';
import { readStoreText } from '../support/store-text.ts';
import { until } from '../support/until.ts';

const SIGN_IN = '/console/sign-in/oidc';
const CALLBACK = '/console/sign-in/oidc/callback';

const withRules = {
  organizations: fleet.organizations.map((organization: Json) =>
    organization.id === acme.id
      ? {
          ...organization,
          memberRules: [
            { claim: 'groups', value: 'platform-admins', roles: ['admin'] },
            { claim: 'email', value: '*@acme.example', roles: ['developer'] },
          ],
        }
      : organization.id === globex.id
        ? { ...organization, memberRules: [{ claim: 'groups', value: 'globex', roles: ['developer'] }] }
        : organization,
  ),
};

onEachStore('sign-in with an identity provider', (store) => {
  const provider = useProvider();
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(store, { fleet: withRules, args: [...provider.args, '--log-level', 'trace'] });
  }, 120_000);
  afterAll(() => server.remove());

  const isCallback = (url: string) => url.startsWith(`${server.url}${CALLBACK}`);

  /** Signs in and returns the browser, where it was sent, and its session. */
  async function signIn(login: string, query = '', browser = createBrowser()) {
    const callback = await browser.visit(`${server.url}${SIGN_IN}${query}`, login, isCallback);
    const response = await browser.send(callback);
    const target = new URL(response.headers.get('location') ?? '', server.url);
    const session = await browser.send(`${server.url}/console/session`);
    return { browser, callback, target, session: { status: session.status, json: (await session.json()) as Json } };
  }

  type SignedIn = Awaited<ReturnType<typeof signIn>>;
  const request = async ({ browser, session }: SignedIn, path: string, method = 'GET', body?: object) => {
    const response = await browser.send(`${server.url}${path}`, {
      method,
      headers: {
        'x-pilothouse-csrf': session.json.csrf,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, json: (await response.json()) as Json };
  };

  const organizationPath = `/v1/organizations/${acme.id}`;
  const account = (login: string, claims: object) => {
    provider.accounts.set(login, { email: `${login}@elsewhere.example`, email_verified: true, name: login, ...claims });
    return login;
  };

  it('opens the requested page as a member with the roles of its groups', async () => {
    account('ada', { groups: ['platform-admins'], name: 'Ada Lovelace' });
    const signedIn = await signIn('ada', '?returnTo=%2Fservices%3Fx%3D1');
    expect(signedIn.target.href).toBe(`${server.url}/services?x=1`);
    expect(signedIn.session.json).toMatchObject({
      kind: 'member',
      organization: { id: acme.id },
      organizations: [{ id: acme.id }],
      credential: { name: 'Ada Lovelace <ada@elsewhere.example>', roles: ['admin'] },
    });
    const renamed = await request(signedIn, organizationPath, 'PATCH', { name: 'Acme' });
    expect(renamed.status).toBe(200);
    const created = await request(signedIn, `${organizationPath}/keys`, 'POST', { name: 'by ada' });
    expect(created.status, JSON.stringify(created.json)).toBe(200);
    const { json } = await server.call({ path: `${organizationPath}/activities`, key: acme.admin });
    const [activity] = json.result.filter(({ type }: Json) => type === 'key_create');
    expect(activity).toMatchObject({
      actorType: 'user',
      actorId: signedIn.session.json.credential.id,
      actorDetails: 'Ada Lovelace <ada@elsewhere.example>',
    });
  });

  it('does not store or log tokens of the provider', async () => {
    account('sealed', { groups: ['platform-admins'] });
    const { browser } = await signIn('sealed');
    const text = `${await readStoreText(server)}${server.log()}`;
    expect(text).not.toMatch(/eyJ[\w-]{10,}\.eyJ/);
    for (const secret of browser.cookies(server.url).values()) expect(text).not.toContain(secret);
  });

  it('unites the roles of all rules that match, in every organization', async () => {
    account('both', { groups: ['globex', 'platform-admins'], email: 'both@ACME.example' });
    const signedIn = await signIn('both');
    const { organizations } = signedIn.session.json;
    expect(organizations.map(({ id }: Json) => id).sort()).toEqual([acme.id, globex.id].sort());
    const members = (await server.call({ path: `${organizationPath}/members`, key: acme.admin })).json.result;
    const member = members.find(({ email }: Json) => email === 'both@ACME.example');
    expect(member.assignedRoles.map(({ roleName }: Json) => roleName).sort()).toEqual(['admin', 'developer']);
    const switched = await request(signedIn, '/console/session/organization', 'PUT', { organizationId: globex.id });
    expect(switched.status).toBe(200);
    const session = await request(signedIn, '/console/session');
    expect(session.json).toMatchObject({ organization: { id: globex.id }, credential: { roles: ['developer'] } });
    expect((await request(signedIn, `${organizationPath}/services`)).status).toBe(404);
    const foreign = await request(signedIn, '/console/session/organization', 'PUT', {
      organizationId: '9e2a6c56-5e2a-4b2d-9e6a-3f4b5c6d7e8f',
    });
    expect(foreign.status).toBe(404);
  });

  it('refuses a person without a rule or an invitation, and an address that is not verified', async () => {
    account('stranger', { groups: ['others'] });
    account('unverified', { email: 'eve@acme.example', email_verified: false });
    for (const [login, address] of [
      ['stranger', 'stranger@elsewhere.example'],
      ['unverified', 'eve@acme.example'],
    ] as const) {
      const { target, session } = await signIn(login, '?returnTo=%2Fcosts');
      expect(target.searchParams.get('to')).toBe('/costs');
      expect([target.pathname, target.searchParams.get('problem')]).toEqual(['/sign-in', 'not-a-member']);
      expect(target.searchParams.get('account')).toBe(address);
      expect(session.status).toBe(401);
    }
  });

  it('a removed group loses access within the refresh time, an added one gains it', async () => {
    account('moved', { groups: ['platform-admins'] });
    const signedIn = await signIn('moved');
    account('moved', { groups: ['globex'] });
    const { status } = await until(
      () => request(signedIn, `${organizationPath}/services`),
      (response) => response.status !== 200,
      'the member has still access',
    );
    expect(status).toBe(401);
    const members = (await server.call({ path: `${organizationPath}/members`, key: acme.admin })).json.result;
    expect(members.map(({ email }: Json) => email)).not.toContain('moved@elsewhere.example');
    expect((await signIn('moved')).session.json.organization.id).toBe(globex.id);
  });

  it('sessions go on while the provider is down; a sign-in says so', async () => {
    account('patient', { groups: ['platform-admins'] });
    const signedIn = await signIn('patient');
    provider.isDown = true;
    try {
      await until(
        async () => {
          expect((await request(signedIn, `${organizationPath}/services`)).status).toBe(200);
          return server.log();
        },
        (log) => log.includes('failed to ask the identity provider'),
        'the provider was not asked',
      );
      const browser = createBrowser();
      const response = await browser.send(`${server.url}${SIGN_IN}`);
      // The configuration of the provider is known, so the browser is sent there.
      expect(response.headers.get('location')).toContain(provider.issuer);
    } finally {
      provider.isDown = false;
    }
    expect((await request(signedIn, `${organizationPath}/services`)).status).toBe(200);
  });

  it('rejects a forged state, a replayed code and a response of another sign-in', async () => {
    account('careful', { groups: ['platform-admins'] });
    const problem = (response: Response) =>
      new URL(response.headers.get('location') ?? '', server.url).searchParams.get('problem');
    const { callback, browser } = await signIn('careful');
    // The cookie of the sign-in is gone.
    expect(problem(await browser.send(callback))).toBe('expired');
    expect(problem(await createBrowser().send(callback))).toBe('expired');

    const replaying = createBrowser();
    const second = await replaying.visit(`${server.url}${SIGN_IN}`, 'careful', isCallback);
    const cookies = new Map(replaying.cookies(server.url));
    expect(problem(await replaying.send(second))).toBeNull();
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const replayed = await fetch(second, { redirect: 'manual', headers: { cookie } });
    expect(problem(replayed)).toBe('invalid-response');

    const forged = new URL(second);
    forged.searchParams.set('state', 'forged');
    expect(problem(await fetch(forged, { redirect: 'manual', headers: { cookie } }))).toBe('expired');
    const mixed = createBrowser();
    const third = new URL(await mixed.visit(`${server.url}${SIGN_IN}`, 'careful', isCallback));
    third.searchParams.set('iss', 'https://attacker.example');
    expect(problem(await mixed.send(third.href))).toBe('invalid-response');
    expect(problem(await createBrowser().send(`${server.url}${CALLBACK}`))).toBe('expired');
  });

  it('returns to pages of the console only', async () => {
    account('returning', { groups: ['platform-admins'] });
    for (const bad of ['//evil.example/x', 'https://evil.example', '/\\evil.example', 'javascript:alert(1)']) {
      const { target } = await signIn('returning', `?returnTo=${encodeURIComponent(bad)}`);
      expect(target.href).toBe(`${server.url}/`);
    }
  });

  it('deleting a service and creating an admin key need a fresh sign-in', async () => {
    account('fresh', { groups: ['platform-admins'] });
    const signedIn = await signIn('fresh');
    // As if the person had signed in to the provider long ago.
    await runSql(server, 'UPDATE console_sessions SET authenticated_at = 1');
    const admin = { name: 'admin', roles: ['admin'] };
    const rejected = await request(signedIn, `${organizationPath}/keys`, 'POST', admin);
    expect(rejected.status).toBe(403);
    expect(rejected.headers.get('www-authenticate')).toContain('insufficient_user_authentication');
    expect((await request(signedIn, `${organizationPath}/services/${acme.secondary}`, 'DELETE')).status).toBe(403);
    expect((await request(signedIn, `${organizationPath}/keys`, 'POST', { name: 'plain' })).status).toBe(200);

    const again = await signIn('fresh', '?fresh=1', signedIn.browser);
    expect((await request(again, `${organizationPath}/keys`, 'POST', admin)).status).toBe(200);
    // The new session has replaced the one before.
    const own = await request(again, '/console/sessions');
    expect(own.json).toEqual([expect.objectContaining({ isCurrent: true })]);
  });

  it('ends sessions when the person signs out at the provider, everywhere, or by an administrator', async () => {
    account('leaving', { groups: ['platform-admins'] });
    const atProvider = await signIn('leaving');
    const signedOut = await request(await signIn('leaving'), '/console/session', 'DELETE');
    expect(signedOut.json.providerUrl).toContain(`${provider.issuer}/session/end?`);

    // RP-initiated logout of the other browser: the provider calls the back channel.
    const end = new URL(`${provider.issuer}/session/end`);
    end.searchParams.set('client_id', 'pilothouse');
    const page = await (await atProvider.browser.send(end.href)).text();
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(page) ?? [];
    await atProvider.browser.send(`${provider.issuer}/session/end/confirm`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ xsrf, logout: 'yes' }),
    });
    await until(
      () => request(atProvider, '/console/session'),
      ({ status }) => status === 401,
      'the session is still open',
    );

    const [one, two, three] = [await signIn('leaving'), await signIn('leaving'), await signIn('leaving')];
    const userId = one.session.json.credential.id;
    const path = `${organizationPath}/members/${userId}/sessions`;
    const listed = await server.call({ path, key: acme.admin });
    expect(listed.json.result).toHaveLength(3);
    const current = (await request(one, '/console/sessions')).json.find(({ isCurrent }: Json) => isCurrent);
    const revoked = await server.call({ method: 'DELETE', path: `${path}/${current.id}`, key: acme.admin });
    expect(revoked.status).toBe(200);
    expect((await request(one, '/console/session')).status).toBe(401);
    expect((await request(two, '/console/session')).status).toBe(200);
    expect((await request(two, '/console/sessions', 'DELETE')).status).toBe(200);
    expect((await request(three, '/console/session')).status).toBe(401);
  });

  it('front-channel logout ends the session of the browser, and has the provider asked about another one', async () => {
    account('framed', { groups: ['platform-admins'] });
    const [asked, ended, kept] = [await signIn('framed'), await signIn('framed'), await signIn('framed')];
    const rows = await runSql(server, 'SELECT provider_session FROM console_sessions ORDER BY created_at DESC LIMIT 3');
    const [, endedId, askedId] = rows.map((row: Json) => String(Object.values(row)[0]));
    const path = '/console/sign-out/oidc/front-channel';
    const logout = (iss: string, sid = '', { browser } = kept) =>
      browser.send(`${server.url}${path}?${new URLSearchParams({ iss, sid })}`);
    expect((await logout('https://other.example', endedId, ended)).status).toBe(200);
    expect((await request(ended, '/console/session')).status).toBe(200);
    const { status, headers } = await logout(provider.issuer, endedId, ended);
    expect([status, headers.get('content-security-policy')]).toEqual([
      200,
      `default-src 'none'; frame-ancestors ${provider.issuer}`,
    ]);
    expect((await request(ended, '/console/session')).status).toBe(401);
    // The id of a session is no proof that it has ended: the provider says that it has not.
    expect((await logout(provider.issuer, askedId)).status).toBe(200);
    const refreshed = () => runSql(server, 'SELECT refreshed_at FROM console_sessions WHERE refreshed_at = 0');
    expect(await refreshed()).toHaveLength(1);
    expect((await request(asked, '/console/session')).status).toBe(200);
    expect(await refreshed()).toHaveLength(0);
    expect((await request(kept, '/console/session')).status).toBe(200);
  });

  it('rejects logout tokens that the provider did not sign', async () => {
    const logout = (body: string) =>
      server.call({
        method: 'POST',
        path: '/console/sign-out/oidc/back-channel',
        text: body,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    const claims = Buffer.from(JSON.stringify({ iss: provider.issuer, sub: 'ada' })).toString('base64url');
    for (const token of ['', 'x', `eyJhbGciOiJub25lIn0.${claims}.`]) {
      const { status, text } = await logout(new URLSearchParams({ logout_token: token }).toString());
      expect([status, text]).toEqual([400, expect.stringMatching(/logout.token/)]);
    }
    expect((await logout('')).status).toBe(400);
  });
});
