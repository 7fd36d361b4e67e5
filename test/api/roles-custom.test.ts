import { expect, it } from 'vitest';
import type { Credentials, Json } from '../support/client.ts';
import { acme, fleet, globex } from '../support/fleet.ts';
import { createKey, getKeyId, keysPath, postKey } from '../support/keys.ts';
import { createPolicy, createRoleClient, ORGANIZATION, ROLES, SYSTEM_ROLES } from '../support/roles.ts';
import { onEachStore, useServer } from '../support/server.ts';

const scalingPath = (serviceId: string) => `${ORGANIZATION}/services/${serviceId}/scaling`;
const onPrimary = [`instance/${acme.primary}`];

/** Most of the 100 roles that an organization may have, so that a few requests reach the limit. */
const declared = Array.from({ length: 60 }, (_, index) => ({ name: `declared ${index}` }));
const [declaredAcme, ...others] = fleet.organizations;
const fleetWithRoles = { organizations: [{ ...declaredAcme, roles: declared }, ...others] };

onEachStore('custom roles', (store) => {
  const server = useServer(store, { fleet: fleetWithRoles, args: ['--max-keys', '1000'] });
  const { send, read, createRole, createKeyWith } = createRoleClient(server);
  const patchKey = (id: string, body: object) => send('PATCH', `${keysPath()}/${id}`, body);
  const canList = async (path: string, key: Credentials) => (await read(`${ORGANIZATION}/${path}`, key)).status;

  it('R3: system roles have fixed ids, policies and the keys that have them', async () => {
    const { result } = (await read(ROLES)).json;
    const system = result.filter(({ type }: { type: string }) => type === 'system');
    const { admin, developer } = SYSTEM_ROLES;
    expect(system.map(({ id, name }: { id: string; name: string }) => [name, id])).toEqual([
      ...Object.entries(SYSTEM_ROLES),
      ['Admin', admin],
      ['Member', developer],
    ]);
    expect(system[3]).toEqual({ ...system[0], name: 'Admin' });
    expect(system[1].actors).toContain(`apiKey/${await getKeyId(server, 'developer')}`);
    expect(system[1].policies[0].permissions).toContain('control-plane:organization:view');
    expect(system[2].policies).toEqual([]);
    expect((await read(`${ROLES}/${SYSTEM_ROLES.admin.toUpperCase()}`)).json.result).toEqual(system[0]);
    expect((await send('DELETE', `${ROLES}/${SYSTEM_ROLES.admin}`)).json.error).toMatch(/^CONFLICT: A system role/);
    const renamed = await send('PATCH', `${ROLES}/${SYSTEM_ROLES.developer}`, { name: 'x', policies: [] });
    expect(renamed.json.error).toBe(
      'BAD_REQUEST: request body.name: A system role cannot be changed; only its actors can <string:x>; request body.policies: A system role cannot be changed; only its actors can <array>',
    );
  });

  it('R3: a custom role with a public name is the only one with that name', async () => {
    const { id } = await createRole([], { name: 'Member' });
    const { result } = (await read(ROLES)).json;
    const named = result.filter(({ name }: { name: string }) => name === 'Member');
    expect(named.map((role: { id: string }) => role.id)).toEqual([id]);
    await send('DELETE', `${ROLES}/${id}`);
  });

  it('R3: assignedRoleIds means the same as roles', async () => {
    const { admin, developer } = SYSTEM_ROLES;
    const createAndRead = async (body: object) => (await postKey(server, body)).json.result?.key.assignedRoles;
    const expected = [{ roleId: admin, roleName: 'admin', roleType: 'system' }];
    expect(await createAndRead({ assignedRoleIds: [admin.toUpperCase()] })).toEqual(expected);
    expect(await createAndRead({ roles: ['admin'] })).toEqual(expected);
    expect(await createAndRead({ roles: ['admin'], assignedRoleIds: [admin] })).toEqual(expected);
    expect(await createAndRead({ roles: ['admin'], assignedRoleIds: [] })).toEqual(expected);
    expect((await createAndRead({ assignedRoleIds: [] }))[0].roleId).toBe(developer);
    expect((await createAndRead({}))[0].roleId).toBe(developer);
  });

  it.each([
    [{ roles: ['admin'], assignedRoleIds: [SYSTEM_ROLES.developer] }, /assignedRoleIds: The system roles must be/],
    [{ assignedRoleIds: [acme.primary] }, new RegExp(`assignedRoleIds: The role does not exist.*${acme.primary}`)],
    [{ assignedRoleIds: ['admin'] }, /assignedRoleIds\[0\]/],
    [{ assignedRoleIds: [SYSTEM_ROLES.admin, SYSTEM_ROLES.admin] }, /assignedRoleIds/],
  ])('R3: a key cannot have %j', async (body, error) => {
    const { id } = await createKey(server);
    for (const { status, json } of [await postKey(server, body), await patchKey(id, body)]) {
      expect([status, json.error]).toEqual([400, expect.stringMatching(error)]);
    }
    expect((await read(`${keysPath()}/${id}`)).json.result.roles).toEqual(['developer']);
  });

  it('R3: an empty assignedRoleIds removes all rights; roles replaces custom roles', async () => {
    const { id, credentials } = await createKeyWith(createPolicy(['control-plane:service:view'], ['instance/*']));
    expect(await canList('services', credentials)).toBe(200);
    expect((await patchKey(id, { assignedRoleIds: [] })).json.result).toMatchObject({ roles: [], assignedRoles: [] });
    expect(await canList('services', credentials)).toBe(403);
    expect((await read('/v1/whoami', credentials)).json.result).toEqual({
      actorType: 'apiKey',
      keyId: id,
      name: 'API key',
      organizationId: acme.id,
    });
    expect((await patchKey(id, { roles: ['developer'] })).json.result.assignedRoles).toHaveLength(1);
    expect(await canList('services', credentials)).toBe(200);
  });

  it('R3: a CI key may scale one service and nothing else', async () => {
    const { credentials, id, role } = await createKeyWith(createPolicy(['instanceScalingUpdate'], onPrimary));
    expect((await read(`${keysPath()}/${id}`)).json.result).toMatchObject({
      roles: [],
      assignedRoles: [{ roleId: role.id, roleName: role.name, roleType: 'custom' }],
    });
    const scale = (serviceId: string) => send('PATCH', scalingPath(serviceId), { numReplicas: 4 }, credentials);
    expect((await scale(acme.primary.toUpperCase())).json.result.numReplicas).toBe(4);
    for (const other of [acme.secondary, globex.primary])
      expect((await scale(other)).json.error).toBe(
        `FORBIDDEN: This operation needs a role that allows instanceScalingUpdate on the service ${other}`,
      );
    expect((await read(`${ORGANIZATION}/services/${acme.primary}`, credentials)).status).toBe(403);
    for (const path of ['services', 'keys', 'roles', 'activities']) expect(await canList(path, credentials)).toBe(403);
  });

  it('R3: a list has the services that a role may view', async () => {
    const { credentials, role } = await createKeyWith(createPolicy(['control-plane:service:view'], onPrimary));
    const listIds = async () =>
      (await read(`${ORGANIZATION}/services`, credentials)).json.result.map(({ id }: { id: string }) => id);
    expect(await listIds()).toEqual([acme.primary]);
    const policies = [
      createPolicy(['control-plane:service:view'], ['instance/*']),
      createPolicy(['instanceGetList'], onPrimary, 'DENY'),
    ];
    expect((await send('PATCH', `${ROLES}/${role.id}`, { policies })).status).toBe(200);
    expect((await listIds()).sort()).toEqual([acme.secondary, acme.development]);
  });

  it('K9: a change of a role takes effect with the next request', async () => {
    const { credentials, role } = await createKeyWith(createPolicy(['activityGetList']));
    const change = (policies: object[]) => send('PATCH', `${ROLES}/${role.id}`, { policies });
    for (const [permission, status] of [
      ['budgetGetList', 403],
      ['control-plane:organization:view-activities', 200],
    ] as const) {
      await change([createPolicy([permission])]);
      expect(await canList('activities', credentials)).toBe(status);
    }
    await change([]);
    expect(await canList('activities', credentials)).toBe(403);
  });

  it('R3: a custom role costs no additional read of the store', async () => {
    const { credentials } = await createKeyWith(createPolicy(['instanceGet'], ['instance/*']));
    const countReads = async () =>
      Number(/^pilothouse_store_query_seconds_count (\d+)$/m.exec((await server.call({ path: '/metrics' })).text)?.[1]);
    const countReadsWith = async (key: Credentials): Promise<number> => {
      await read(`${ORGANIZATION}/services/${acme.primary}`, key);
      const before = await countReads();
      for (let request = 0; request < 60; request++) await read(`${ORGANIZATION}/services/${acme.primary}`, key);
      return (await countReads()) - before;
    };
    // The margin is for background work.
    expect(await countReadsWith(credentials)).toBeLessThan((await countReadsWith(acme.admin)) + 30);
  });

  it('R3: DENY takes precedence over every other role', async () => {
    const role = await createRole([createPolicy(['instanceScalingUpdate'], onPrimary, 'DENY')]);
    const { credentials } = await createKey(server, { assignedRoleIds: [role.id, SYSTEM_ROLES.admin] });
    expect((await send('PATCH', scalingPath(acme.primary), {}, credentials)).status).toBe(403);
    expect((await send('PATCH', scalingPath(acme.secondary), {}, credentials)).status).toBe(200);
    expect(await canList('keys', credentials)).toBe(200);
  });

  it.each([
    [createPolicy(['services:fly']), 'permissions[0]: The value must be a permission or the id of an operation'],
    [createPolicy(['toString']), 'permissions[0]: The value must be a permission'],
    [createPolicy(['sql-console:database:access'], ['instance/*']), 'permissions[0]: The permission is not supported'],
    [createPolicy(['organizationGet', 'instanceGet']), 'permissions: All permissions of a policy must be for the'],
    [createPolicy(['organizationGet'], ['instance/*']), 'resources[0]: The permissions of this policy are for the org'],
    [createPolicy(['organizationGet'], [`organization/${globex.id}`]), 'resources[0]: The permissions of this policy'],
    [createPolicy(['instanceGet']), 'resources[0]: The permissions of this policy are for services'],
    [createPolicy(['instanceGet'], ['*']), 'resources[0]: The permissions of this policy are for services'],
    [createPolicy(['instanceGet'], [`instance/${globex.primary}`]), 'resources[0]: The service does not exist'],
    // Dashboards belong to the organization, so a role for one service cannot have them.
    [
      createPolicy(['clickStackListDashboards'], [`instance/${acme.primary}`]),
      'resources[0]: The permissions of this policy are for the org',
    ],
    [createPolicy([]), 'permissions: The list must have at least 1 element'],
    [createPolicy(['organizationGet'], undefined, 'MAYBE'), 'allowDeny'],
    [{ ...createPolicy(['organizationGet']), tags: { grants: ['GRANT ALL'] } }, 'tags: tags are for the SQL console'],
  ])('R3: a role cannot have the policy %j', async (policy, error) => {
    const { status, json } = await send('POST', ROLES, { name: 'invalid', policies: [policy] });
    expect([status, json.error]).toEqual([400, expect.stringContaining(`request body.policies[0].${error}`)]);
  });

  it('R3: names are unique, and the number of roles is limited', async () => {
    const { name, id } = await createRole([]);
    expect((await send('POST', ROLES, { name })).json.error).toBe(
      `CONFLICT: A role with the name ${name} already exists`,
    );
    expect((await send('POST', ROLES, { name: 'admin' })).status).toBe(409);
    const other = await createRole([]);
    expect((await send('PATCH', `${ROLES}/${other.id}`, { name })).status).toBe(409);
    expect((await send('PATCH', `${ROLES}/${id}`, { name: 'admin' })).status).toBe(409);
    let last = await send('POST', ROLES, { name: 'filler' });
    for (let count = 0; last.status === 200 && count < 50; count++)
      last = await send('POST', ROLES, { name: `filler ${count}` });
    expect(last.json.error).toMatch(/^CONFLICT: The organization has reached its limit of 100 custom roles/);
    for (const role of (await read(ROLES)).json.result)
      if (role.name.startsWith('filler')) expect((await send('DELETE', `${ROLES}/${role.id}`)).status).toBe(200);
  });

  it('R3: actors are the keys that have the role', async () => {
    const [one, two] = [
      await createKey(server, { name: 'one' }),
      await createKey(server, { roles: ['query_endpoints'] }),
    ];
    const role = await createRole([createPolicy(['activityGetList'])], { actors: [`apiKey/${two.id.toUpperCase()}`] });
    expect(role.actors).toEqual([`apiKey/${two.id}`]);
    expect(await canList('activities', two.credentials)).toBe(200);
    const change = (actors: string[], id = role.id) => send('PATCH', `${ROLES}/${id}`, { actors });
    expect((await change([`apiKey/${one.id}`])).json.result.actors).toEqual([`apiKey/${one.id}`]);
    expect(await canList('activities', two.credentials)).toBe(403);
    expect((await read(ROLES)).json.result.at(-1).actors).toBeDefined();
    for (const actor of [`user/${one.id}`, 'apiKey/x', `apiKey/${await getKeyId(server, 'admin', globex)}`])
      expect((await change([actor])).status, actor).toBe(400);
    const removed = await send('DELETE', `${ROLES}/${role.id}`);
    expect(removed.json.error).toBe(
      `CONFLICT: The role is assigned to the keys one (${one.id}); remove it from them first`,
    );
    expect((await change([])).json.result.actors).toEqual([]);
    expect((await send('DELETE', `${ROLES}/${role.id}`)).status).toBe(200);
    expect((await read(`${ROLES}/${role.id}`)).status).toBe(404);
    // The keys of a system role can change in the same way, but an organization keeps an admin.
    expect((await change([`apiKey/${two.id}`], SYSTEM_ROLES.query_endpoints)).status).toBe(200);
    const none = { actors: [], removeOtherActors: true };
    expect((await send('PATCH', `${ROLES}/${SYSTEM_ROLES.admin}`, none)).json.error).toMatch(
      /^CONFLICT: After this change, no enabled admin key/,
    );
  });

  it('R3: every change writes an activity', async () => {
    const role = await createRole([createPolicy(['activityGetList'])]);
    await send('PATCH', `${ROLES}/${role.id}`, { name: `${role.name}!` });
    await send('PATCH', `${ROLES}/${role.id}`, { name: `${role.name}!` });
    await send('DELETE', `${ROLES}/${role.id}`);
    const { result } = (await read(`${ORGANIZATION}/activities?resource_id=${role.id}`)).json;
    expect(result.map(({ type, before, after }: Record<string, object>) => [type, before, after])).toEqual([
      ['role_delete', expect.objectContaining({ name: `${role.name}!` }), undefined],
      ['role_update', { name: role.name }, { name: `${role.name}!` }],
      ['role_create', undefined, { name: role.name, policies: [createPolicy(['activityGetList'])] }],
    ]);
    const targets = { targetRoleIds: [role.id], targetRoleNames: [role.name] };
    expect(result[1]).toMatchObject({ ...targets, targetRoleNames: [role.name, `${role.name}!`] });
    expect(result[2]).toMatchObject({ ...targets, targetResourceIds: [`organization/${acme.id}`] });
  });

  it('an activity of a key names the roles that it gained and lost', async () => {
    const role = await createRole([]);
    const { id } = (await postKey(server, { roles: ['developer'] })).json.result.key;
    await patchKey(id, { assignedRoleIds: [SYSTEM_ROLES.developer, role.id] });
    await patchKey(id, { roles: ['admin'] });
    await patchKey(id, { name: 'renamed' });
    const { result } = (await read(`${ORGANIZATION}/activities?resource_id=${id}`)).json;
    const { developer, admin } = SYSTEM_ROLES;
    const targetActorIds = [`apiKey/${id}`];
    const named = ['targetRoleIds', 'targetRoleNames', 'targetActorIds', 'keyUpdateType'];
    expect(
      result.map((activity: Json) =>
        Object.fromEntries(named.flatMap((name) => (name in activity ? [[name, activity[name]]] : []))),
      ),
    ).toEqual([
      { keyUpdateType: 'name-changed' },
      { keyUpdateType: 'roles-v2-changed', targetRoleIds: [developer, role.id, admin], targetActorIds },
      { keyUpdateType: 'roles-v2-changed', targetRoleIds: [role.id], targetActorIds },
      { keyUpdateType: 'created', targetRoleIds: [developer], targetRoleNames: ['developer'], targetActorIds },
    ]);
  });

  it('M4: the roles of another organization do not exist', async () => {
    const { id } = await createRole([]);
    const foreign = `/v1/organizations/${globex.id}/roles`;
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect((await send(method, `${foreign}/${id}`, method === 'PATCH' ? {} : undefined, globex.admin)).status).toBe(
        404,
      );
    expect((await postKey(server, { assignedRoleIds: [id] }, globex)).status).toBe(400);
    expect((await read(foreign, globex.admin)).text).not.toContain(id);
  });
});
