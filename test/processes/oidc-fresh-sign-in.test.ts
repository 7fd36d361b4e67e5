import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme, fleet } from '../support/fleet.ts';
import { getKeyId } from '../support/keys.ts';
import { createBrowser, useProvider } from '../support/oidc.ts';
import { createPolicy, SYSTEM_ROLES } from '../support/roles.ts';
import { onEachStore, startServer, type TestServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';

const SIGN_IN = '/console/sign-in/oidc';
const ORGANIZATION = `/v1/organizations/${acme.id}`;

const withRules = {
  organizations: fleet.organizations.map((organization: Json) => ({
    ...organization,
    ...(organization.id === acme.id && { memberRules: [{ claim: 'groups', value: 'admins', roles: ['admin'] }] }),
  })),
};

onEachStore('a recent sign-in at the identity provider', (store) => {
  const provider = useProvider();
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(store, { fleet: withRules, args: provider.args });
    for (const login of ['ada', 'grace', 'eve'])
      provider.accounts.set(login, { email: `${login}@acme.example`, email_verified: true, groups: ['admins'] });
  }, 120_000);
  afterAll(() => server.remove());

  const isCallback = (url: string) => url.startsWith(`${server.url}${SIGN_IN}/callback`);

  /** Where the browser is sent after the sign-in. `change` edits the address at the provider. */
  async function signIn(
    browser: ReturnType<typeof createBrowser>,
    login: string,
    query = '',
    change?: (url: URL) => void,
  ) {
    const started = await browser.send(`${server.url}${SIGN_IN}${query}`);
    const authorization = new URL(started.headers.get('location') ?? '');
    change?.(authorization);
    const callback = await browser.visit(authorization.href, login, isCallback);
    const finished = await browser.send(callback);
    return new URL(finished.headers.get('location') ?? '', server.url);
  }

  /** Requests of the session of a browser. */
  async function createCaller(browser: ReturnType<typeof createBrowser>) {
    const { csrf } = (await (await browser.send(`${server.url}/console/session`)).json()) as Json;
    return async (method: string, path: string, body?: object) => {
      const response = await browser.send(`${server.url}${ORGANIZATION}${path}`, {
        method,
        headers: { 'x-pilothouse-csrf': csrf, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      const challenge = response.headers.get('www-authenticate')?.includes('insufficient_user_authentication') ?? false;
      return { status: response.status, challenge, json: (await response.json()) as Json };
    };
  }

  it('R4: is asked for wherever the rights of an administrator are handed out', async () => {
    const browser = createBrowser();
    await signIn(browser, 'ada', '?fresh=1');
    const recent = await createCaller(browser);
    const all = (await recent('GET', `/roles/${SYSTEM_ROLES.admin}`)).json.result.policies;
    const policies = all.map(({ allowDeny, permissions, resources }: Json) => ({ allowDeny, permissions, resources }));
    const powerful = (await recent('POST', '/roles', { name: 'powerful', policies })).json.result;
    const small = (await recent('POST', '/roles', { name: 'small', policies: [createPolicy(['activityGetList'])] }))
      .json.result;
    const limited = await recent('POST', '/roles', {
      name: 'no keys',
      policies: [createPolicy(['openapiKeyCreate'], undefined, 'DENY')],
    });
    const restrictedKey = { name: 'restricted', assignedRoleIds: [SYSTEM_ROLES.admin, limited.json.result.id] };
    expect((await recent('POST', '/keys', restrictedKey)).status).toBe(200);
    const plain = (await recent('POST', '/keys', { name: 'plain' })).json.result.key;
    await signIn(createBrowser(), 'grace');
    const members = (await recent('GET', '/members')).json.result;
    const grace = members.find(({ email }: Json) => email === 'grace@acme.example');
    const adminId = await getKeyId(server, 'admin');
    // As if the person had signed in to the provider long ago.
    await runSql(server, 'UPDATE console_sessions SET authenticated_at = 1');

    const actors = [`apiKey/${plain.id}`];
    const attempts: [string, string, object][] = [
      ['POST', '/keys', { roles: ['admin'] }],
      ['POST', '/keys', { assignedRoleIds: [powerful.id] }],
      ['PATCH', `/keys/${plain.id}`, { roles: ['admin'] }],
      ['PATCH', `/keys/${plain.id}`, { assignedRoleIds: [powerful.id] }],
      ['PATCH', `/keys/${adminId}`, { ipAccessList: [] }],
      ['POST', `/keys/${adminId}/rotate`, { gracePeriodHours: 1 }],
      ['PATCH', `/roles/${SYSTEM_ROLES.admin}`, { actors }],
      ['PATCH', `/roles/${SYSTEM_ROLES.admin}`, { actors, removeOtherActors: true }],
      ['PATCH', `/roles/${powerful.id}`, { actors }],
      ['POST', '/roles', { name: 'also powerful', policies }],
      ['PATCH', `/roles/${small.id}`, { policies }],
      ['PATCH', `/roles/${limited.json.result.id}`, { policies: [] }],
      ['POST', '/invitations', { email: 'new@acme.example', role: 'admin' }],
      ['POST', '/invitations', { email: 'new@acme.example', assignedRoleIds: [powerful.id] }],
      ['PATCH', `/members/${grace.userId}`, { role: 'admin' }],
    ];
    for (const [method, path, body] of attempts) {
      const { status, challenge, json } = await recent(method, path, body);
      expect([status, challenge], `${method} ${path} ${JSON.stringify(body)}: ${JSON.stringify(json)}`).toEqual([
        403,
        true,
      ]);
    }
    const allowed: [string, string, object][] = [
      ['POST', '/keys', { name: 'reader' }],
      ['POST', '/keys', { assignedRoleIds: [small.id] }],
      ['PATCH', `/keys/${adminId}`, { name: 'admin' }],
      ['PATCH', `/roles/${small.id}`, { actors }],
      ['POST', '/invitations', { email: 'reader@acme.example', role: 'developer' }],
    ];
    for (const [method, path, body] of allowed) {
      const { status, json } = await recent(method, path, body);
      expect(status, `${method} ${path}: ${JSON.stringify(json)}`).toBe(200);
    }
    await signIn(browser, 'ada', '?fresh=1');
    const again = await createCaller(browser);
    for (const [method, path, body] of attempts.filter(([, path]) => !path.startsWith('/invitations'))) {
      const { status, json } = await again(method, path, body);
      // The organization keeps an admin key that may manage keys.
      expect([200, 409], `${method} ${path}: ${JSON.stringify(json)}`).toContain(status);
    }
  });

  it('R4: is not one because the browser says so', async () => {
    const browser = createBrowser();
    const stripped = await signIn(browser, 'eve', '?fresh=1', ({ searchParams }) => {
      searchParams.delete('prompt');
      searchParams.delete('max_age');
    });
    expect([stripped.pathname, stripped.searchParams.get('problem')]).toEqual(['/sign-in', 'not-fresh']);
    expect((await browser.send(`${server.url}/console/session`)).status).toBe(401);
    // A sign-in that was not to be a new one is accepted, and is none.
    expect((await signIn(browser, 'eve')).pathname).toBe('/');
    const call = await createCaller(browser);
    expect(await call('POST', '/keys', { roles: ['admin'] })).toMatchObject({ status: 403, challenge: true });
    expect((await signIn(browser, 'eve', '?fresh=1')).pathname).toBe('/');
    expect((await (await createCaller(browser))('POST', '/keys', { roles: ['admin'] })).status).toBe(200);
  });
});
