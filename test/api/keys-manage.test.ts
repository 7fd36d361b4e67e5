import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { createKey, keysPath, readWithKey } from '../support/keys.ts';
import { toAssignedRoles } from '../support/roles.ts';
import { onEachStore, useServer } from '../support/server.ts';

onEachStore('manage keys', (store) => {
  const server = useServer(store, { args: ['--max-keys', '10000'] });
  const get = async (id: string) => (await server.call({ path: `${keysPath()}/${id}`, key: acme.admin })).json.result;
  const patch = (id: string, body?: unknown) =>
    server.call({
      method: 'PATCH',
      path: `${keysPath()}/${id}`,
      key: acme.admin,
      ...(body === undefined ? {} : { body }),
    });

  it('M1: lists the records of all keys of the organization, oldest first', async () => {
    const { id } = await createKey(server, { name: 'newest' });
    const { status, json, headers } = await server.call({ path: keysPath(), key: acme.admin });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    const names = json.result.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['admin', 'developer', 'query', 'disabled', 'expired']));
    expect(json.result.at(-1)).toEqual(await get(id));
    const times = json.result.map(({ createdAt }: { createdAt: string }) => createdAt);
    expect(times).toEqual([...times].sort());
  });

  it('K1, M4: finds a record by its UUID, ignoring case, and never by its key id', async () => {
    const { id, credentials } = await createKey(server, { name: 'found' });
    const path = `/v1/organizations/${acme.id.toUpperCase()}/keys/${id.toUpperCase()}`;
    const { status, json, headers } = await server.call({ path, key: acme.admin });
    expect([status, json.result.id, headers.get('cache-control')]).toEqual([200, id, 'no-store']);
    expect(json.result).not.toHaveProperty('keyId');
    expect(json.result).not.toHaveProperty('keySecret');
    const wrong = await server.call({ path: `${keysPath()}/${credentials.keyId}`, key: acme.admin });
    expect([wrong.status, wrong.json.error]).toEqual([
      400,
      `BAD_REQUEST: path.keyId: The value must be a valid uuid <string:${credentials.keyId}>`,
    ]);
  });

  it.each(['GET', 'PATCH', 'DELETE'])('M4: %s of a missing key returns 404 with its id', async (method) => {
    const id = randomUUID();
    const { status, json } = await server.call({ method, path: `${keysPath()}/${id}`, key: acme.admin });
    expect([status, json.error]).toEqual([404, `NOT_FOUND: key ${id} does not exist`]);
  });

  it.each([
    ['name', { name: 'after' }, { name: 'after' }],
    ['state', { state: 'disabled' }, { state: 'disabled' }],
    [
      'roles',
      { roles: ['query_endpoints', 'admin'] },
      { roles: ['query_endpoints', 'admin'], assignedRoles: toAssignedRoles('query_endpoints', 'admin') },
    ],
    ['expireAt', { expireAt: '2098-01-01T00:00:00+01:00' }, { expireAt: '2097-12-31T23:00:00Z' }],
    ['expireAt null', { expireAt: null }, { expireAt: null }],
    ['expireAt empty', { expireAt: '' }, { expireAt: null }],
    ['ipAccessList', { ipAccessList: [{ source: '::1' }] }, { ipAccessList: [{ source: '::1' }] }],
    ['ipAccessList empty', { ipAccessList: [] }, { ipAccessList: [] }],
    [
      'several',
      { name: 'several', state: 'disabled', expireAt: null },
      { name: 'several', state: 'disabled', expireAt: null },
    ],
    ['nothing', {}, {}],
    ['no body', undefined, {}],
    ['null for members that are not nullable', { name: null, state: null, roles: null, ipAccessList: null }, {}],
    [
      'members that cannot be changed',
      { id: acme.id, keySuffix: 'abcd', createdAt: '2020-01-01T00:00:00Z', usedAt: null, hashData: {}, colour: 1 },
      {},
    ],
  ])('K3, K4, K6, B4: changing %s changes nothing else', async (_, body, changed) => {
    const { id } = await createKey(server, {
      name: 'before',
      expireAt: '2099-01-01T00:00:00Z',
      ipAccessList: [{ source: '203.0.113.7', description: 'office' }, { source: '2001:db8::/32' }],
    });
    const before = await get(id);
    const { status, json, headers } = await patch(id, body);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(json.result).toEqual({ ...before, ...changed });
    expect(await get(id)).toEqual(json.result);
  });

  it.each([
    [{ name: '' }, 'name: The value must not be empty'],
    [{ roles: [] }, 'roles: The list must have at least 1 element'],
    [{ roles: ['developer', 'developer'] }, 'roles: The list must not repeat an element'],
    [{ state: 'deleted' }, 'state: The value must be one of enabled, disabled'],
    [{ expireAt: '2020-01-01T00:00:00Z' }, 'expireAt: The value must be in the future'],
    [{ expireAt: '2099-01-01T00:00:00' }, 'expireAt: The value must be an ISO 8601 date-time with an offset or Z'],
    [
      { ipAccessList: [{ source: '127.1' }] },
      'ipAccessList[0].source: The value must be an IPv4 or IPv6 address or a CIDR',
    ],
    [{ name: 'half', roles: ['owner'] }, 'roles[0]: The value must be one of admin, developer, query_endpoints'],
  ])('K4, K5, K6, K8: rejects the change %j as a whole', async (body, rule) => {
    const { id } = await createKey(server, { name: 'kept' });
    const before = await get(id);
    const { status, json } = await patch(id, body);
    expect(status).toBe(400);
    expect(json.error).toContain(`BAD_REQUEST: request body.${rule}`);
    expect(await get(id)).toEqual(before);
  });

  it('K1: a change does not affect the credentials', async () => {
    const { id, credentials } = await createKey(server);
    await patch(id, { name: 'renamed', roles: ['admin'] });
    expect((await readWithKey(server, credentials)).status).toBe(200);
  });

  it('B3: concurrent changes of different fields both take effect', async () => {
    const { id } = await createKey(server);
    await Promise.all([
      patch(id, { name: 'one' }),
      patch(id, { roles: ['query_endpoints'] }),
      patch(id, { ipAccessList: [{ source: '::1' }] }),
    ]);
    expect(await get(id)).toMatchObject({ name: 'one', roles: ['query_endpoints'], ipAccessList: [{ source: '::1' }] });
  });

  it('M1, B6: a key is deleted immediately; the response has no result', async () => {
    const { id } = await createKey(server);
    const { status, json, headers } = await server.call({
      method: 'DELETE',
      path: `${keysPath()}/${id}`,
      key: acme.admin,
    });
    expect(status).toBe(200);
    expect(json).toEqual({ requestId: headers.get('x-request-id'), status: 200 });
    expect(headers.get('cache-control')).toBe('no-store');
    expect((await server.call({ path: `${keysPath()}/${id}`, key: acme.admin })).status).toBe(404);
    expect((await server.call({ method: 'DELETE', path: `${keysPath()}/${id}`, key: acme.admin })).status).toBe(404);
  });

  it('B3: a key cannot delete itself', async () => {
    const { id, credentials } = await createKey(server, { roles: ['admin'] });
    const { status, json } = await server.call({
      method: 'DELETE',
      path: `${keysPath()}/${id.toUpperCase()}`,
      key: credentials,
    });
    expect([status, json.error]).toEqual([409, 'CONFLICT: A key cannot delete itself; use another key']);
    expect((await readWithKey(server, credentials)).status).toBe(200);
  });
});
