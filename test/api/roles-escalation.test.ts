import { expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { createKey, getKeyId, keysPath } from '../support/keys.ts';
import { createPolicy, createRoleClient, ORGANIZATION, ROLES, SYSTEM_ROLES } from '../support/roles.ts';
import { onEachStore, useServer } from '../support/server.ts';

/** Everything that manages keys and roles, and one service. */
const MANAGER = [
  createPolicy([
    'control-plane:organization:manage',
    'control-plane:organization:view',
    'control-plane:organization:create-api-keys',
    'control-plane:organization:update-api-keys',
    'control-plane:organization:delete-api-keys',
  ]),
  createPolicy(['instanceScalingUpdate'], [`instance/${acme.primary}`]),
];
const EXCESS = /^FORBIDDEN: The (key|role) .* permits operations that this key does not have: /;

onEachStore('a key that manages keys and roles', (store) => {
  const server = useServer(store, { args: ['--max-keys', '1000'] });
  const { send, createRole, createKeyWith } = createRoleClient(server);

  it('R3: grants what it has, for the same services only', async () => {
    const { credentials, role } = await createKeyWith(...MANAGER);
    const post = (path: string, body: object) => send('POST', path, body, credentials);
    expect((await post(keysPath(), { name: 'equal', assignedRoleIds: [role.id] })).status).toBe(200);
    const narrow = { name: 'narrow', policies: [MANAGER[1]] };
    expect((await post(ROLES, narrow)).status).toBe(200);
    const wider = [
      { name: 'admin', roles: ['admin'] },
      { name: 'reads more', roles: ['developer'] },
      { name: 'default', assignedRoleIds: [] },
      { name: 'by id', assignedRoleIds: [role.id, SYSTEM_ROLES.admin] },
    ];
    for (const body of wider) expect((await post(keysPath(), body)).json.error, body.name).toMatch(EXCESS);
    for (const resources of [[`instance/${acme.secondary}`], ['instance/*']])
      expect(
        (await post(ROLES, { name: 'wide', policies: [createPolicy(['instanceScalingUpdate'], resources)] })).json
          .error,
      ).toMatch(EXCESS);
    expect((await post(ROLES, { name: 'wide', policies: [createPolicy(['budgetGet'])] })).json.error).toMatch(EXCESS);
  });

  it('R3: cannot give itself more', async () => {
    const { credentials, role, id } = await createKeyWith(...MANAGER);
    const patch = (path: string, body: object) => send('PATCH', path, body, credentials);
    const policies = [...MANAGER, createPolicy(['instanceGet'], ['instance/*'])];
    const stronger = await createRole([createPolicy(['activityGetList'])]);
    const attempts = [
      patch(`${keysPath()}/${id}`, { roles: ['admin'] }),
      patch(`${keysPath()}/${id}`, { assignedRoleIds: [role.id, stronger.id] }),
      patch(`${ROLES}/${role.id}`, { policies }),
      patch(`${ROLES}/${stronger.id}`, { actors: [`apiKey/${id}`] }),
      patch(`${ROLES}/${SYSTEM_ROLES.admin}`, {
        actors: [`apiKey/${id}`, `apiKey/${await getKeyId(server, 'admin')}`],
      }),
    ];
    for (const { status, json } of await Promise.all(attempts))
      expect([status, json.error]).toEqual([403, expect.stringMatching(EXCESS)]);
    expect((await send('GET', `${ORGANIZATION}/services/${acme.primary}`, undefined, credentials)).status).toBe(403);
  });

  it('R3: cannot change, rotate or delete a key that may do more', async () => {
    const { credentials } = await createKeyWith(...MANAGER);
    const admin = `${keysPath()}/${await getKeyId(server, 'developer')}`;
    const attempts = [
      send('POST', `${admin}/rotate`, {}, credentials),
      send('PATCH', admin, { name: 'mine' }, credentials),
      send('DELETE', admin, undefined, credentials),
    ];
    for (const { json } of await Promise.all(attempts)) expect(json.error).toMatch(EXCESS);
  });

  it('R3: cannot lift what is denied to it', async () => {
    const denied = await createRole([createPolicy(['activityGetList'], undefined, 'DENY')]);
    const manager = await createRole([...MANAGER, createPolicy(['activityGetList'])]);
    const { credentials, id } = await createKey(server, { assignedRoleIds: [denied.id, manager.id] });
    const patch = (path: string, body: object) => send('PATCH', path, body, credentials);
    const attempts = [
      patch(`${keysPath()}/${id}`, { assignedRoleIds: [manager.id] }),
      patch(`${ROLES}/${denied.id}`, { policies: [] }),
      patch(`${ROLES}/${denied.id}`, { actors: [] }),
      send('POST', keysPath(), { assignedRoleIds: [manager.id] }, credentials),
    ];
    for (const { json } of await Promise.all(attempts)) expect(json.error).toMatch(EXCESS);
  });

  it('R3: creates dashboard tokens only with access that it has', async () => {
    const path = `${ORGANIZATION}/dashboardTokens`;
    const { credentials } = await createKeyWith(...MANAGER);
    const viewer = await createKeyWith(...MANAGER, createPolicy(['dashboards:view']));
    const post = (access: string, key = viewer.credentials) => send('POST', path, { name: 'token', access }, key);
    expect((await post('read', credentials)).status).toBe(403);
    expect((await post('write')).status).toBe(403);
    const { json } = await post('read');
    const token = `${path}/${json.result.dashboardToken.id}`;
    expect((await send('PATCH', token, { access: 'write' }, viewer.credentials)).status).toBe(403);
    expect((await send('PATCH', token, { name: 'renamed' }, viewer.credentials)).status).toBe(200);
    expect((await send('PATCH', token, { access: 'write' })).status).toBe(200);
    expect((await send('PATCH', token, { name: 'mine' }, viewer.credentials)).status).toBe(403);
    expect((await send('DELETE', token, undefined, viewer.credentials)).status).toBe(403);
  });
});
