import { expect } from 'vitest';
import { getSystemRoleId, KEY_ROLES } from '../../src/kernel/access/roles.ts';
import type { Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { createKey, getKeyId } from '../support/keys.ts';
import { getInvitationsPath, join } from '../support/members.ts';
import { createPolicy, createRoleClient, ORGANIZATION, ROLES, SYSTEM_ROLES } from '../support/roles.ts';
import type { TestServer } from '../support/server.ts';
import { insertBackup } from '../support/stored-backups.ts';
import type { World } from './hand-out-attempts.ts';

/** Parts of secrets, and the operations whose permission shows them. The port is closed. */
export const SECRETS: Readonly<Record<string, readonly string[]>> = {
  'path-of-the-webhook': ['updateWebhook', 'clickStackUpdateWebhook'],
  'path-of-the-budget': ['budgetUpdate'],
  // The audit log has it too.
  'SELECT of_the_other_service': ['activityGetList', 'activityGet'],
};
const [WEBHOOK_PATH, BUDGET_PATH, SAVED_SQL] = Object.keys(SECRETS);
const RECEIVER = 'http://127.0.0.1:9';

const SERVICES = `${ORGANIZATION}/services`;

/** An organization with an administrator, secrets and data, all out of reach of the permissions that are tried. */
export async function createWorld(server: TestServer): Promise<World> {
  const { send, createRole } = createRoleClient(server);
  const post = async (path: string, body: object, token?: string): Promise<Json> => {
    const response = token ? await server.call({ method: 'POST', path, token, body }) : await send('POST', path, body);
    expect(response.status, `${path}: ${response.text}`).toBe(200);
    return response.json.result ?? response.json.data;
  };
  const boss = await join(server, acme, 'boss@acme.example', { role: 'admin' });
  const admin = (await send('GET', `${ROLES}/${SYSTEM_ROLES.admin}`)).json.result;
  const policies = admin.policies.map(({ allowDeny, permissions, resources }: Json) => ({
    allowDeny,
    permissions,
    resources,
  }));
  const denying = await createRole([createPolicy(['activityGetList'], undefined, 'DENY')]);
  await createKey(server, { assignedRoleIds: [SYSTEM_ROLES.admin, denying.id] });
  await join(server, acme, 'limited@acme.example', { assignedRoleIds: [SYSTEM_ROLES.admin, denying.id] });
  const webhook = await post(
    '/api/v2/webhooks',
    { name: 'pager', service: 'generic', url: `${RECEIVER}/${WEBHOOK_PATH}` },
    acme.writer,
  );
  const search = await post('/api/v2/saved-searches', { name: 'errors', sourceId: 'logs' }, acme.writer);
  const alert = await post(
    '/api/v2/alerts',
    {
      source: 'saved_search',
      savedSearchId: search.id,
      channel: { type: 'webhook', webhookId: webhook.id },
      interval: '1d',
      threshold: 100,
      thresholdType: 'above',
    },
    acme.writer,
  );
  const budget = await post(`${ORGANIZATION}/budgets`, {
    monthlyCHC: 1_000_000,
    webhook: { url: `${RECEIVER}/${BUDGET_PATH}` },
  });
  await post(`${SERVICES}/${acme.primary}/saved-queries`, { name: 'theirs', sql: SAVED_SQL, database: 'default' });
  const tokens = (await send('GET', `${ORGANIZATION}/dashboardTokens`)).json.result;
  return {
    serviceId: acme.development,
    otherServiceId: acme.primary,
    backupId: await insertBackup(server, acme.id, acme.primary),
    adminKeyId: await getKeyId(server, 'admin'),
    developerKeyId: await getKeyId(server, 'developer'),
    memberId: boss.userId,
    memberEmail: 'boss@acme.example',
    powerfulRoleId: (await createRole(policies)).id,
    denyingRoleId: denying.id,
    dashboardTokenId: tokens.find(({ access }: Json) => access === 'write').id,
    webhookId: webhook.id,
    budgetId: budget.id,
    alertId: alert.id,
    savedSearchId: search.id,
  };
}

/** What must be the same afterwards: the keys of the system roles, the roles of all members, and who may run SQL. */
export async function readHolders(server: TestServer, { serviceId, otherServiceId }: World) {
  const { send } = createRoleClient(server);
  const actors = await Promise.all(
    KEY_ROLES.filter((role) => role !== 'query_endpoints').map(async (role) => {
      const { json } = await send('GET', `${ROLES}/${getSystemRoleId(role)}`);
      return [role, json.result.actors.sort()];
    }),
  );
  const members = (await send('GET', `${ORGANIZATION}/members`)).json.result.filter(({ assignedRoles }: Json) =>
    assignedRoles.some(({ roleType }: Json) => roleType === 'system'),
  );
  const endpoints = await Promise.all(
    [serviceId, otherServiceId].map(
      async (id) => (await send('GET', `${SERVICES}/${id}/serviceQueryEndpoint`)).json.result,
    ),
  );
  return {
    actors,
    members: members.map(({ email, assignedRoles }: Json) => [email, assignedRoles]),
    endpoints,
  };
}

/** Makes room for the next permission. */
export async function cleanUp(server: TestServer, roleIds: readonly string[]): Promise<void> {
  const { send } = createRoleClient(server);
  for (const { id } of (await send('GET', getInvitationsPath(acme))).json.result)
    await send('DELETE', `${getInvitationsPath(acme)}/${id}`);
  for (const id of roleIds) {
    await send('PATCH', `${ROLES}/${id}`, { actors: [] });
    await send('DELETE', `${ROLES}/${id}`);
  }
}
