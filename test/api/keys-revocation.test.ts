import { afterAll, beforeAll, expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { createKey, keysPath, readWithKey } from '../support/keys.ts';
import { startSecondServer } from '../support/second-server.ts';
import { onEachStore, START_LIMIT_MS, type TestServer, useServer } from '../support/server.ts';

onEachStore('a key on two nodes', (store) => {
  const server = useServer(store, { sharedEngine: true });
  let second: Awaited<ReturnType<typeof startSecondServer>>;
  beforeAll(async () => {
    second = await startSecondServer(server);
  }, START_LIMIT_MS);
  afterAll(async () => second?.stop());

  const readOnBothNodes = async (credentials: typeof acme.admin) => {
    const responses = [await readWithKey(server, credentials), await readWithKey(second as TestServer, credentials)];
    return responses.map(({ status, json }) => (status === 200 ? 200 : json.error));
  };
  const change = (node: Pick<TestServer, 'call'>, id: string, body: object) =>
    node.call({ method: 'PATCH', path: `${keysPath()}/${id}`, key: acme.admin, body });

  it('K9: disabling or enabling it on one node takes effect on both with the next request', async () => {
    const { id, credentials } = await createKey(server);
    for (const node of [server, second]) {
      expect(await readOnBothNodes(credentials)).toEqual([200, 200]);
      await change(node, id, { state: 'disabled' });
      expect(await readOnBothNodes(credentials)).toEqual([
        'UNAUTHORIZED: Key is not active',
        'UNAUTHORIZED: Key is not active',
      ]);
      await change(node, id, { state: 'enabled' });
    }
    expect(await readOnBothNodes(credentials)).toEqual([200, 200]);
  });

  it('K9: deleting it on one node takes effect on both with the next request', async () => {
    for (const node of [server, second]) {
      const { id, credentials } = await createKey(server);
      expect(await readOnBothNodes(credentials)).toEqual([200, 200]);
      await node.call({ method: 'DELETE', path: `${keysPath()}/${id}`, key: acme.admin });
      expect(await readOnBothNodes(credentials)).toEqual([
        'UNAUTHORIZED: Key is not found',
        'UNAUTHORIZED: Key is not found',
      ]);
    }
  });

  it('K9: changing roles or addresses on one node takes effect on both with the next request', async () => {
    const { id, credentials } = await createKey(server);
    expect(await readOnBothNodes(credentials)).toEqual([200, 200]);
    await change(second, id, { roles: ['query_endpoints'] });
    for (const response of await readOnBothNodes(credentials))
      expect(response).toMatch(/^FORBIDDEN: This operation needs the role/);
    await change(second, id, { roles: ['developer'], ipAccessList: [{ source: '203.0.113.7' }] });
    for (const response of await readOnBothNodes(credentials))
      expect(response).toBe('FORBIDDEN: This key may not be used from 127.0.0.1');
  });

  it('K9, R3: changing a custom role on one node takes effect on both with the next request', async () => {
    const path = `/v1/organizations/${acme.id}/roles`;
    const toPolicies = (permission: string) => [
      { allowDeny: 'ALLOW', permissions: [permission], resources: [`organization/${acme.id}`] },
    ];
    const body = { name: 'two nodes', policies: toPolicies('organizationGetList') };
    const { json } = await server.call({ method: 'POST', path, key: acme.admin, body });
    const { credentials } = await createKey(server, { assignedRoleIds: [json.result.id] });
    for (const node of [server, second]) {
      const setPermission = (permission: string) =>
        node.call({
          method: 'PATCH',
          path: `${path}/${json.result.id}`,
          key: acme.admin,
          body: { policies: toPolicies(permission) },
        });
      expect(await readOnBothNodes(credentials)).toEqual([200, 200]);
      await setPermission('activityGetList');
      const error = 'FORBIDDEN: This operation needs a role that allows organizationGetList';
      expect(await readOnBothNodes(credentials)).toEqual([error, error]);
      await setPermission('organizationGetList');
    }
  });

  it('K2: usedAt is absent before the first use, then has one-minute precision', async () => {
    const { id, credentials } = await createKey(server);
    const readRecord = async () => (await server.call({ path: `${keysPath()}/${id}`, key: acme.admin })).json.result;
    await readWithKey(server, { ...credentials, keySecret: 'wrong' });
    expect(await readRecord()).not.toHaveProperty('usedAt');
    const minute = (at: number) => `${new Date(at).toISOString().slice(0, 16)}:00Z`;
    const earliest = minute(Date.now());
    await readWithKey(second as TestServer, credentials);
    const latest = minute(Date.now());
    await expect.poll(readRecord, { timeout: 20_000 }).toHaveProperty('usedAt');
    expect([earliest, latest]).toContain((await readRecord()).usedAt);
  });

  it('K2: a change right after a use keeps usedAt', async () => {
    const { id, credentials } = await createKey(server);
    await readWithKey(server, credentials);
    await change(server, id, { name: 'changed' });
    const readRecord = async () => (await second.call({ path: `${keysPath()}/${id}`, key: acme.admin })).json.result;
    await expect.poll(readRecord, { timeout: 20_000 }).toHaveProperty('usedAt');
    await change(second, id, { name: 'changed again' });
    expect(await readRecord()).toMatchObject({ name: 'changed again', usedAt: expect.stringMatching(/:00Z$/) });
  });
});
