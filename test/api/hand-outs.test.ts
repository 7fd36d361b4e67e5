import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { HAND_OUTS } from '../../src/kernel/access/hand-outs.ts';
import { OPERATIONS } from '../../src/kernel/access/permissions.ts';
import type { Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { createKey, getKeyId, keysPath } from '../support/keys.ts';
import { join } from '../support/members.ts';
import { createPolicy, createRoleClient, ORGANIZATION, ROLES, SYSTEM_ROLES } from '../support/roles.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { insertBackup } from '../support/stored-backups.ts';

const SERVICES = `${ORGANIZATION}/services`;
const SERVICE = `${SERVICES}/${acme.primary}`;
const onService = (permissions: string[], id = acme.primary) => createPolicy(permissions, [`instance/${id}`]);

onEachStore('what an operation hands out', (store) => {
  const server = useServer(store, { args: ['--max-keys', '1000'] });
  const { send, createRole, createKeyWith } = createRoleClient(server);

  it('R4: is declared for every documented operation', async () => {
    const { paths } = (await server.call({ path: '/openapi.json' })).json;
    const documented = Object.values<Record<string, Json>>(paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect([...HAND_OUTS.keys()].sort()).toEqual([...new Set(documented)].sort());
    expect([...OPERATIONS.keys()].filter((operation) => !HAND_OUTS.has(operation))).toEqual([]);
  });

  it('R4: a query endpoint gives only the SQL that its author may run', async () => {
    const permissions = ['control-plane:service:manage-query-api-endpoints'];
    const plain = await createKeyWith(onService(permissions));
    const reader = await createKeyWith(onService([...permissions, 'sql:read']));
    const writer = await createKeyWith(onService([...permissions, 'sql:read', 'sql:write']));
    const put = async ({ id, credentials }: { id: string; credentials: typeof acme.admin }, role: string) => {
      const body = { roles: [role], openApiKeys: [id], allowedOrigins: '' };
      const { status, text } = await send('POST', `${SERVICE}/serviceQueryEndpoint`, body, credentials);
      if (status === 403) expect(text).toContain('The query endpoint permits operations that this key does not have');
      return status;
    };
    expect(await put(plain, 'sql_console_read_only')).toBe(403);
    expect(await put(plain, 'sql_console_admin')).toBe(403);
    expect(await put(reader, 'sql_console_read_only')).toBe(200);
    expect(await put(reader, 'sql_console_admin')).toBe(403);
    expect(await put(writer, 'sql_console_admin')).toBe(200);
    // Not even with its own key removed from the list.
    const openApiKeys = [await getKeyId(server, 'query')];
    const change = { roles: ['sql_console_admin'], openApiKeys, allowedOrigins: 'https://evil.example' };
    expect((await send('POST', `${SERVICE}/serviceQueryEndpoint`, change, reader.credentials)).status).toBe(403);
  });

  it('R4: a password of a service gives all SQL on it', async () => {
    const manager = await createKeyWith(onService(['control-plane:service:manage']));
    const owner = await createKeyWith(onService(['control-plane:service:manage', 'sql:read', 'sql:write']));
    const set = (key: typeof acme.admin) => send('PATCH', `${SERVICE}/password`, {}, key);
    const refused = await set(manager.credentials);
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('sqlRead')]);
    expect((await set(owner.credentials)).status).toBe(200);
  });

  it('R4: a backup is restored only by those who may view it and read its data', async () => {
    const backupId = await insertBackup(server, acme.id, acme.primary);
    const body = (id: string) => ({ name: 'copy', provider: 'aws', region: 'eu-central-1', backupId: id });
    const create = createPolicy(['control-plane:organization:create-service']);
    const blind = await createKeyWith(create, onService(['backupGet', 'sqlRead'], acme.secondary));
    const viewer = await createKeyWith(create, onService(['control-plane:service:view-backups']));
    const reader = await createKeyWith(create, onService(['control-plane:service:view-backups', 'sql:read']));
    const post = (id: string, { credentials }: { credentials: typeof acme.admin }) =>
      send('POST', SERVICES, body(id), credentials);
    const hidden = await post(backupId, blind);
    const unknownId = randomUUID();
    const unknown = await post(unknownId, blind);
    expect([hidden.status, hidden.json.error]).toEqual([400, unknown.json.error.replace(unknownId, backupId)]);
    const refused = await post(backupId, viewer);
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('sqlRead')]);
    expect((await post(backupId, reader)).status).toBe(200);
    const failedId = await insertBackup(server, acme.id, acme.primary, 'error');
    expect((await post(failedId, blind)).json.error).toContain('The organization has no such backup');
    expect((await post(failedId, viewer)).json.error).toContain('The backup has failed');
    const foreign = await insertBackup(server, globex.id, globex.primary);
    expect((await send('POST', SERVICES, body(foreign))).json.error).toContain('The organization has no such backup');
  });

  it('R4: a service joins only a warehouse whose data its author may read', async () => {
    const create = createPolicy(['control-plane:organization:create-service']);
    const body = { name: 'joined', provider: 'aws', region: 'eu-central-1', dataWarehouseId: acme.warehouse };
    const attempt = async (...policies: object[]) => {
      const { credentials } = await createKeyWith(create, ...policies);
      const { status, text } = await send('POST', SERVICES, body, credentials);
      return [status, text] as const;
    };
    const both = [`instance/${acme.primary}`, `instance/${acme.secondary}`];
    expect(await attempt()).toEqual([400, expect.stringContaining('The organization has no such warehouse')]);
    expect(await attempt(createPolicy(['instanceGet'], both))).toEqual([403, expect.stringContaining('sqlRead')]);
    const allowed = await attempt(createPolicy(['instanceGet', 'sqlRead'], both));
    expect(allowed[0], allowed[1]).toBe(200);
  });

  it('R4: actors of a system role are added, and lose it only if the request says so', async () => {
    const admin = `${ROLES}/${SYSTEM_ROLES.admin}`;
    const readActors = async (): Promise<string[]> => (await send('GET', admin)).json.result.actors;
    const before = await readActors();
    const { id } = await createKey(server);
    const added = await send('PATCH', admin, { actors: [`apiKey/${id}`] });
    expect(added.json.result.actors.sort()).toEqual([...before, `apiKey/${id}`].sort());
    expect((await send('PATCH', admin, { actors: [] })).json.result.actors).toHaveLength(before.length + 1);
    const removed = await send('PATCH', admin, { actors: before, removeOtherActors: true });
    expect(removed.json.result.actors.sort()).toEqual(before.sort());
    // Clients keep the whole list of a custom role.
    const one = await createKey(server);
    const custom = await createRole([createPolicy(['activityGetList'])], { actors: [`apiKey/${id}`] });
    const change = (body: object) => send('PATCH', `${ROLES}/${custom.id}`, { actors: [`apiKey/${one.id}`], ...body });
    expect((await change({ removeOtherActors: false })).json.result.actors).toHaveLength(2);
    expect((await change({})).json.result.actors).toEqual([`apiKey/${one.id}`]);
  });

  it('R4: a manager of roles takes no role from keys that it may not manage', async () => {
    const role = await createRole([createPolicy(['activityGetList'])], {
      actors: [`apiKey/${await getKeyId(server, 'admin')}`],
    });
    const manager = await createKeyWith(
      createPolicy(['control-plane:organization:manage', 'control-plane:organization:view', 'activityGetList']),
    );
    const patch = (body: object) => send('PATCH', `${ROLES}/${role.id}`, body, manager.credentials);
    expect((await patch({ actors: [] })).status).toBe(403);
    expect((await patch({ actors: [`apiKey/${manager.id}`], removeOtherActors: false })).status).toBe(200);
  });

  it('R4: a role is not changed for members that may do more than the caller', async () => {
    const deny = await createRole([createPolicy(['activityGetList'], undefined, 'DENY')]);
    const email = 'limited@acme.example';
    const { headers } = await join(server, acme, email, { assignedRoleIds: [SYSTEM_ROLES.admin, deny.id] });
    const path = `${ROLES}/${deny.id}`;
    const lift = await server.call({ method: 'PATCH', path, headers, body: { policies: [] } });
    expect([lift.status, lift.text]).toEqual([
      403,
      expect.stringMatching(/The member limited@acme.example permits operations .*: activityGetList\./),
    ]);
    // Nor can another role deny an administrator everything.
    const manager = await createKeyWith(createPolicy(['control-plane:organization:manage']));
    const policies = [createPolicy(['control-plane:organization:manage'], undefined, 'DENY')];
    expect((await send('PATCH', path, { policies }, manager.credentials)).status).toBe(403);
  });

  it.each([
    ['createAlert', 'dashboards:manage', 'POST', '/api/v2/alerts', 'getAlert'],
    ['createWebhook', 'dashboards:manage', 'POST', '/api/v2/webhooks', 'listNotifications'],
    ['createDashboardLink', 'dashboards:manage', 'POST', `/api/v2/dashboards/${acme.dashboard}/links`, 'getDashboard'],
    ['clickStackCreateAlert', 'dashboards:manage', 'POST', `${SERVICE}/clickstack/alerts`, 'clickStackGetAlert'],
    ['budgetCreate', 'control-plane:organization:manage-billing', 'POST', `${ORGANIZATION}/budgets`, 'budgetGet'],
  ])('R4: %s with %s only does not send what it may not read', async (_, permission, method, path, missing) => {
    const { credentials } = await createKeyWith(createPolicy([permission]));
    const session = await server.call({ method: 'POST', path: '/console/session', body: credentials });
    const [cookie = ''] = session.headers.get('set-cookie')?.split(';') ?? [];
    const headers = { cookie, 'x-pilothouse-csrf': session.json.csrf };
    const { status, text } = await server.call({ method, path, headers, body: {} });
    expect([status, text]).toEqual([403, expect.stringContaining(`needs a role that allows ${missing}`)]);
  });

  it('R4: keys are created, as before, within the rights of their author', async () => {
    const { credentials, role } = await createKeyWith(createPolicy(['control-plane:organization:create-api-keys']));
    expect((await send('POST', keysPath(), { assignedRoleIds: [role.id] }, credentials)).status).toBe(200);
    expect((await send('POST', keysPath(), { roles: ['admin'] }, credentials)).status).toBe(403);
  });
});
