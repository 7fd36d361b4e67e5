import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { readStoreText } from '../support/store-text.ts';
import { until } from '../support/until.ts';

const path = `/v1/organizations/${acme.id}/dashboardTokens`;
const boards = '/api/v2/dashboards';

onEachStore('dashboard tokens', (store) => {
  const server = useServer(store, { inProcess: false });
  const post = (body?: unknown, key = acme.admin) =>
    server.call({ method: 'POST', path, key, ...(body === undefined ? {} : { body }) });
  const list = async (): Promise<Json[]> => (await server.call({ path, key: acme.admin })).json.result;

  it('K1, B6: a token is returned once, is read-only by default and never stored in plain text', async () => {
    const { status, json, headers } = await post();
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    const { dashboardToken, token } = json.result;
    expect(token).toMatch(/^pht_[0-9A-Za-z]{49}$/);
    expect(dashboardToken).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'dashboard token',
      access: 'read',
      tokenSuffix: token.slice(-4),
      createdAt: expect.stringMatching(/^20\d\d-.*:\d\dZ$/),
      expireAt: null,
    });
    expect((await server.call({ path: boards, token })).status).toBe(200);
    expect((await server.call({ method: 'POST', path: boards, token, body: { name: 'x' } })).status).toBe(403);
    const shown = await server.call({ path, key: acme.developer });
    expect([shown.status, shown.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(shown.text).not.toContain(token);
    expect(await readStoreText(server)).not.toContain(token);
    expect(server.log()).not.toContain(token);
  });

  it('a read-write token reads and writes', async () => {
    const { token } = (await post({ name: 'editor', access: 'write' })).json.result;
    const created = await server.call({ method: 'POST', path: boards, token, body: { name: 'x' } });
    expect(created.status).toBe(200);
    expect((await server.call({ path: `${boards}/${created.json.data.id}`, token })).status).toBe(200);
  });

  it.each([
    [{ access: 'admin' }, 'access'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ expireAt: 'soon' }, 'expireAt'],
    [{ expireAt: '2020-01-01T00:00:00Z' }, 'expireAt'],
    [{ expireAt: '2099-01-01T00:00:00' }, 'expireAt'],
  ])('M3: %j returns 400 and names %s', async (body, member) => {
    const before = await list();
    const { status, json } = await post(body);
    expect([status, json.error]).toEqual([400, expect.stringContaining(`request body.${member}: `)]);
    expect((await list()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  });

  it('K4: expireAt null and empty mean never; a future time is returned', async () => {
    for (const [expireAt, shown] of [
      [null, null],
      ['', null],
      ['2099-06-01T02:00:00+02:00', '2099-06-01T00:00:00Z'],
    ])
      expect((await post({ expireAt })).json.result.dashboardToken.expireAt).toBe(shown);
  });

  it('changes the name, access and expiry of a token, which stays the same', async () => {
    const { token, dashboardToken } = (await post({ name: 'before', expireAt: '2098-01-01T00:00:00Z' })).json.result;
    const patch = (body: unknown, key = acme.admin) =>
      server.call({ method: 'PATCH', path: `${path}/${dashboardToken.id.toUpperCase()}`, key, body });
    const changed = await patch({ name: 'after', access: 'write' });
    expect([changed.status, changed.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const expected = { ...dashboardToken, name: 'after', access: 'write' };
    expect(changed.json.result).toEqual(expected);
    expect((await server.call({ method: 'POST', path: boards, token, body: { name: 'x' } })).status).toBe(200);
    expect((await patch({ expireAt: null })).json.result).toMatchObject({ ...expected, expireAt: null });
    expect((await patch({})).json.result).toMatchObject({ ...expected, expireAt: null });
    const { json } = await server.call({
      path: `/v1/organizations/${acme.id}/activities?limit=2&type=dashboard_token_update`,
      key: acme.admin,
    });
    expect(json.result).toMatchObject([
      {
        activityType: 'dashboard_token_update',
        before: { expireAt: '2098-01-01T00:00:00Z' },
        after: { expireAt: null },
      },
      { activityType: 'dashboard_token_update', before: { name: 'before', access: 'read' }, after: { name: 'after' } },
    ]);
    expect((await patch({ access: 'read' })).status).toBe(200);
    expect((await server.call({ method: 'POST', path: boards, token, body: { name: 'x' } })).status).toBe(403);
    expect((await patch({ name: 'x' }, acme.developer)).status).toBe(403);
    const invalid = await patch({ name: '', access: 'none', expireAt: '2020-01-01T00:00:00Z' });
    expect(invalid.status).toBe(400);
    for (const member of ['name', 'access', 'expireAt'])
      expect(invalid.json.error).toContain(`request body.${member}: `);
    const missing = await server.call({ method: 'PATCH', path: `${path}/${randomUUID()}`, key: acme.admin, body: {} });
    expect(missing.status).toBe(404);
  });

  it('rejects a deleted token from the next request on', async () => {
    const { token, dashboardToken } = (await post()).json.result;
    expect((await server.call({ path: boards, token })).status).toBe(200);
    const deletion = { method: 'DELETE', path: `${path}/${dashboardToken.id.toUpperCase()}`, key: acme.admin };
    const deleted = await server.call(deletion);
    expect([deleted.status, deleted.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect((await server.call({ path: boards, token })).status).toBe(401);
    expect((await server.call(deletion)).status).toBe(404);
    expect((await list()).map(({ id }) => id)).not.toContain(dashboardToken.id);
  });

  it('K2: the last use has one-minute precision', async () => {
    const { token, dashboardToken } = (await post({ name: 'used' })).json.result;
    const usedAt = async () => (await list()).find(({ id }) => id === dashboardToken.id)?.usedAt;
    expect(await usedAt()).toBeUndefined();
    await server.call({ path: boards, token });
    const recorded = await until(usedAt, (value) => value !== undefined, 'the use of the token is not recorded');
    expect(recorded).toMatch(/:00Z$/);
  });

  it('R1: only an admin creates and deletes tokens; a developer lists them', async () => {
    const [known] = await list();
    expect((await post({}, acme.developer)).status).toBe(403);
    expect((await server.call({ method: 'DELETE', path: `${path}/${known.id}`, key: acme.developer })).status).toBe(
      403,
    );
    expect((await server.call({ path, key: acme.query })).status).toBe(403);
  });

  it('M4: treats tokens of another organization like missing ones', async () => {
    const otherPath = `/v1/organizations/${globex.id}/dashboardTokens`;
    const [one] = (await server.call({ path: otherPath, key: globex.admin })).json.result;
    expect((await server.call({ path: otherPath, key: acme.admin })).status).toBe(404);
    for (const id of [one.id, randomUUID()]) {
      const { status, json } = await server.call({ method: 'DELETE', path: `${path}/${id}`, key: acme.admin });
      expect([status, json.error]).toEqual([404, `NOT_FOUND: token ${id} does not exist`]);
    }
    expect((await server.call({ path: boards, token: globex.token })).status).toBe(200);
  });

  it('B6: creating and deleting a token is audited, without the token or its hash', async () => {
    const { dashboardToken } = (await post({ name: 'audited', access: 'write' })).json.result;
    await server.call({ method: 'DELETE', path: `${path}/${dashboardToken.id}`, key: acme.admin });
    const { json } = await server.call({ path: `/v1/organizations/${acme.id}/activities?limit=2`, key: acme.admin });
    const shown = { name: 'audited', access: 'write', tokenSuffix: dashboardToken.tokenSuffix, expireAt: null };
    expect(json.result).toEqual([
      expect.objectContaining({ activityType: 'dashboard_token_delete', resourceId: dashboardToken.id, before: shown }),
      expect.objectContaining({ activityType: 'dashboard_token_create', resourceId: dashboardToken.id, after: shown }),
    ]);
  });
});
