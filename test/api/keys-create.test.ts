import { expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { createKey, keysPath, postKey, readWithKey } from '../support/keys.ts';
import { SYSTEM_ROLES } from '../support/roles.ts';
import { onEachStore, useServer } from '../support/server.ts';

const WHOLE_SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
/** A version 7 UUID. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

onEachStore('create key', (store) => {
  const server = useServer(store, { args: ['--max-keys', '10000'] });

  it('K1, K2, K3: returns the record, a key id and a secret, and nothing else', async () => {
    const { status, json, headers } = await postKey(server, { name: 'shape' });
    expect(status).toBe(200);
    expect(Object.keys(json).sort()).toEqual(['requestId', 'result', 'status']);
    expect(json).toMatchObject({ status: 200, requestId: headers.get('x-request-id') });
    const { key, keyId, keySecret, ...rest } = json.result;
    expect(rest).toEqual({});
    expect(keyId).toMatch(/^[A-Za-z0-9]{20}$/);
    expect(keySecret).toMatch(/^phs_[A-Za-z0-9]{49}$/);
    expect(key).toEqual({
      id: expect.stringMatching(UUID),
      name: 'shape',
      state: 'enabled',
      roles: ['developer'],
      assignedRoles: [{ roleId: SYSTEM_ROLES.developer, roleName: 'developer', roleType: 'system' }],
      keySuffix: keyId.slice(-4),
      createdAt: expect.stringMatching(WHOLE_SECONDS),
      expireAt: null,
      ipAccessList: [],
    });
  });

  it('K1: key ids and secrets are unique', async () => {
    const created = await Promise.all(Array.from({ length: 10 }, () => createKey(server)));
    for (const part of [
      created.map(({ id }) => id),
      created.map(({ credentials }) => credentials.keyId),
      created.map(({ credentials }) => credentials.keySecret),
    ]) {
      expect(new Set(part).size).toBe(10);
    }
  });

  it('K1: ids of key records are in creation order', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push((await createKey(server)).id);
    expect(ids.toSorted()).toEqual(ids);
  });

  it('K1: the key works from the next request on', async () => {
    const { credentials } = await createKey(server);
    expect((await readWithKey(server, credentials)).status).toBe(200);
  });

  it('B6: responses, errors included, have cache-control: no-store', async () => {
    expect((await postKey(server, {})).headers.get('cache-control')).toBe('no-store');
    expect((await postKey(server, { roles: [] })).headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['no body', undefined],
    ['an empty object', {}],
    ['null', null],
    [
      'null for each member',
      { name: null, expireAt: null, hashData: null, ipAccessList: null, roles: null, state: null },
    ],
    ['unknown members', { colour: 'blue', usedAt: '2020-01-01T00:00:00Z', id: acme.id, keySuffix: 'abcd' }],
  ])('K5, K6, K8, B4, B5: %s creates a key with the defaults', async (_, body) => {
    const { status, json } = await postKey(server, body);
    expect(status).toBe(200);
    expect(json.result.key).toMatchObject({
      name: 'API key',
      state: 'enabled',
      roles: ['developer'],
      expireAt: null,
      ipAccessList: [],
    });
    expect(json.result.key.id).not.toBe(acme.id);
    expect(json.result.key).not.toHaveProperty('usedAt');
  });

  it.each([
    ['one character', 'x'],
    ['255 characters', 'n'.repeat(255)],
    ['255 characters outside the basic plane', '🚀'.repeat(255)],
    ['spaces, quotes and markup', ' "quoted" <b>\'bold\'</b> \\ \n\t'],
    ['other scripts', 'ключ מפתח 鍵'],
    ['the text __proto__', '__proto__'],
  ])('K8: a name of %s is stored unchanged', async (_, name) => {
    const { id } = await createKey(server, { name });
    const { json } = await server.call({ path: `${keysPath()}/${id}`, key: acme.admin });
    expect(json.result.name).toBe(name);
  });

  it('K8: names need not be unique', async () => {
    const [first, second] = [await createKey(server, { name: 'twin' }), await createKey(server, { name: 'twin' })];
    expect(first.id).not.toBe(second.id);
  });

  it.each([
    ['empty', '""', 'The value must not be empty <string:>'],
    [
      '256 characters',
      JSON.stringify('n'.repeat(256)),
      `The value must have at most 255 characters <string:${'n'.repeat(64)}>`,
    ],
    [
      '256 characters outside the basic plane',
      JSON.stringify('🚀'.repeat(256)),
      `The value must have at most 255 characters <string:${'🚀'.repeat(64)}>`,
    ],
    [
      '256 code points that look like 128',
      JSON.stringify('e\u0301'.repeat(128)),
      `The value must have at most 255 characters <string:${'e\u0301'.repeat(32)}>`,
    ],
    ['with NUL', '"a\\u0000b"', 'The value must not contain NUL characters or unpaired surrogates'],
    [
      'with an unpaired high surrogate',
      '"a\\ud83d"',
      'The value must not contain NUL characters or unpaired surrogates',
    ],
    [
      'with an unpaired low surrogate',
      '"\\ude00a"',
      'The value must not contain NUL characters or unpaired surrogates',
    ],
    ['a number', '7', 'The value must be a string <number:7>'],
    ['an array', '["a"]', 'The value must be a string <array>'],
  ])('K8, M3: rejects a name that is %s', async (_, name, rule) => {
    const { status, json } = await server.call({
      method: 'POST',
      path: keysPath(),
      key: acme.admin,
      text: `{"name":${name}}`,
      headers: { 'content-type': 'application/json' },
    });
    expect(status).toBe(400);
    expect(json.error).toContain(`BAD_REQUEST: request body.name: ${rule}`);
  });

  it.each([[['admin']], [['developer']], [['query_endpoints']], [['query_endpoints', 'developer', 'admin']]])(
    'K5: the roles %j keep their order',
    async (roles) => {
      expect((await postKey(server, { roles })).json.result.key.roles).toEqual(roles);
    },
  );

  it.each([
    [[], 'request body.roles: The list must have at least 1 element <array>'],
    [['owner'], 'request body.roles[0]: The value must be one of admin, developer, query_endpoints <string:owner>'],
    [
      ['admin', 'Admin'],
      'request body.roles[1]: The value must be one of admin, developer, query_endpoints <string:Admin>',
    ],
    [['admin', 'admin'], 'request body.roles: The list must not repeat an element <array>'],
    [[null], 'request body.roles[0]: The value must be one of admin, developer, query_endpoints <null>'],
    ['admin', 'request body.roles: The value must be an array <string:admin>'],
    [{ 0: 'admin' }, 'request body.roles: The value must be an array <object>'],
  ])('K5, M3: rejects the roles %j', async (roles, rule) => {
    const { status, json } = await postKey(server, { roles });
    expect(status).toBe(400);
    expect(json.error).toBe(`BAD_REQUEST: ${rule}`);
  });

  it('K3: rejects a key created as disabled until it is enabled', async () => {
    const { id, credentials } = await createKey(server, { state: 'disabled' });
    expect((await readWithKey(server, credentials)).json.error).toBe('UNAUTHORIZED: Key is not active');
    await server.call({ method: 'PATCH', path: `${keysPath()}/${id}`, key: acme.admin, body: { state: 'enabled' } });
    expect((await readWithKey(server, credentials)).status).toBe(200);
  });

  it.each([['Enabled'], [''], ['deleted'], [true], [['enabled']]])('K3: rejects the state %j', async (state) => {
    const { status, json } = await postKey(server, { state });
    expect(status).toBe(400);
    expect(json.error).toContain('request body.state: The value must be one of enabled, disabled');
  });

  it('M3: reports all violations at once and creates no key', async () => {
    const before = (await server.call({ path: keysPath(), key: acme.admin })).json.result.length;
    const { json } = await postKey(server, { name: '', roles: [], state: 'off', ipAccessList: [{ source: 'x' }] });
    for (const member of ['name', 'roles', 'state', 'ipAccessList[0].source'])
      expect(json.error).toContain(`request body.${member}: `);
    expect((await server.call({ path: keysPath(), key: acme.admin })).json.result.length).toBe(before);
  });
});
