import { describe, expect, it } from 'vitest';
import type { Credentials } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { createKey, getKeyId, keysPath, readWithKey } from '../support/keys.ts';
import { createPolicy, createRoleClient, ROLES, SYSTEM_ROLES } from '../support/roles.ts';
import { onEachStore, useServer } from '../support/server.ts';

const LAST = 'CONFLICT: This is the last enabled admin key of the organization; it cannot be';

onEachStore('the last admin key', (store) => {
  describe('with the other admin keys disabled or expired', () => {
    const server = useServer(store);
    const change = (id: string, body: object, key: Credentials = acme.admin) =>
      server.call({ method: 'PATCH', path: `${keysPath()}/${id}`, key, body });

    it.each([
      [{ state: 'disabled' }, 'disabled'],
      [{ roles: ['developer'] }, 'demoted'],
      [{ roles: ['query_endpoints', 'developer'] }, 'demoted'],
      [{ state: 'disabled', roles: ['developer'] }, 'disabled'],
    ])('B3: cannot be changed to %j', async (body, doing) => {
      const id = await getKeyId(server, 'admin');
      const { status, json } = await change(id, { name: 'lost', ...body });
      expect([status, json.error]).toEqual([409, `${LAST} ${doing}`]);
      const { json: after } = await server.call({ path: `${keysPath()}/${id}`, key: acme.admin });
      expect(after.result).toMatchObject({ name: 'admin', state: 'enabled', roles: ['admin'] });
    });

    it('B3: accepts all other changes', async () => {
      const id = await getKeyId(server, 'admin');
      expect((await change(id, { roles: ['admin', 'developer'], state: 'enabled' })).status).toBe(200);
      expect((await change(id, { roles: ['admin'] })).status).toBe(200);
    });

    it('B3: inactive admin keys can be deleted, disabled and demoted', async () => {
      expect((await change(await getKeyId(server, 'disabled'), { roles: ['developer'] })).status).toBe(200);
      expect((await change(await getKeyId(server, 'disabled'), { roles: ['admin'] })).status).toBe(200);
      expect((await change(await getKeyId(server, 'expired'), { state: 'disabled' })).status).toBe(200);
    });
  });

  describe('with a second admin key', () => {
    const server = useServer(store);

    it('B3: of two keys that disable each other concurrently, one stays enabled', async () => {
      const first = await getKeyId(server, 'admin');
      const { id: second, credentials } = await createKey(server, { roles: ['admin'] });
      const disable = (id: string, key: Credentials) =>
        server.call({ method: 'PATCH', path: `${keysPath()}/${id}`, key, body: { state: 'disabled' } });
      const responses = await Promise.all([disable(second, acme.admin), disable(first, credentials)]);
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
      const alive = await Promise.all([readWithKey(server, acme.admin), readWithKey(server, credentials)]);
      expect(alive.filter(({ status }) => status === 200)).toHaveLength(1);
      const [winner, loser] = alive[0]?.status === 200 ? [acme.admin, second] : [credentials, first];
      await server.call({ method: 'PATCH', path: `${keysPath()}/${loser}`, key: winner, body: { state: 'enabled' } });
      expect((await readWithKey(server, acme.admin)).status).toBe(200);
      await server.call({ method: 'DELETE', path: `${keysPath()}/${second}`, key: acme.admin });
    });

    it('B3: one can be demoted, then the other cannot', async () => {
      const first = await getKeyId(server, 'admin');
      const { id: second, credentials } = await createKey(server, { roles: ['admin'] });
      const demote = (id: string, key: Credentials) =>
        server.call({ method: 'PATCH', path: `${keysPath()}/${id}`, key, body: { roles: ['developer'] } });
      expect((await demote(second, credentials)).status).toBe(200);
      expect((await demote(second, credentials)).status).toBe(403);
      expect((await demote(first, acme.admin)).json.error).toBe(`${LAST} demoted`);
    });

    it('B3: a key that is no longer an admin cannot delete the last one', async () => {
      const first = await getKeyId(server, 'admin');
      const { id: second, credentials } = await createKey(server, { roles: ['admin'] });
      const requests = [
        server.call({
          method: 'PATCH',
          path: `${keysPath()}/${second}`,
          key: acme.admin,
          body: { roles: ['developer'] },
        }),
        server.call({ method: 'DELETE', path: `${keysPath()}/${first}`, key: credentials }),
      ];
      const [demoted, deleted] = await Promise.all(requests);
      expect([
        [200, 403],
        [200, 409],
        [401, 200],
        [409, 200],
      ]).toContainEqual([demoted?.status, deleted?.status]);
      const survivor = deleted?.status === 200 ? credentials : acme.admin;
      const { json } = await server.call({ path: keysPath(), key: survivor });
      const admins = json.result.filter(
        ({ roles, state, expireAt }: { roles: string[]; state: string; expireAt: string | null }) =>
          roles.includes('admin') && state === 'enabled' && expireAt === null,
      );
      expect(admins).toHaveLength(1);
    });
  });

  describe('with roles that deny the management of keys and roles', () => {
    const server = useServer(store);
    const { send, read, createRole } = createRoleClient(server);
    const deny = (...permissions: string[]) => createPolicy(permissions, undefined, 'DENY');
    const assign = (id: string, ...roleIds: string[]) =>
      send('PATCH', `${keysPath()}/${id}`, { assignedRoleIds: [SYSTEM_ROLES.admin, ...roleIds] });
    const NO_MANAGER = expect.stringMatching(/^CONFLICT: After this change, no enabled admin key/);

    it.each(['openapiKeyUpdate', 'organizationRolePatch', 'control-plane:organization:create-api-keys'])(
      'B3: a role cannot deny it %s',
      async (permission) => {
        const id = await getKeyId(server, 'admin');
        const role = await createRole([deny(permission)]);
        const { status, json } = await assign(id, role.id);
        expect([status, json.error]).toEqual([
          409,
          'CONFLICT: This is the last enabled admin key of the organization; a role cannot deny it the management of keys and roles',
        ]);
        const actors = [`apiKey/${id}`];
        const attempts = [
          await send('PATCH', `${ROLES}/${role.id}`, { actors }),
          await send('POST', ROLES, { name: permission, policies: [deny(permission)], actors }),
        ];
        for (const attempt of attempts) expect([attempt.status, attempt.json.error]).toEqual([409, NO_MANAGER]);
        expect((await send('DELETE', `${ROLES}/${role.id}`)).status).toBe(200);
      },
    );

    it('B3: an admin key that may not manage keys does not replace it, until it may', async () => {
      const first = await getKeyId(server, 'admin');
      const { id: second, credentials } = await createKey(server, { roles: ['admin'] });
      const role = await createRole([deny('openapiKeyUpdate')], { actors: [`apiKey/${second}`] });
      const disable = () => send('PATCH', `${keysPath()}/${first}`, { state: 'disabled' });
      expect((await disable()).json.error).toBe(`${LAST} disabled`);
      // The role moves from one to the other in one request.
      expect((await send('PATCH', `${ROLES}/${role.id}`, { actors: [`apiKey/${first}`] })).status).toBe(200);
      expect((await disable()).status).toBe(403);
      const lifted = await send('PATCH', `${ROLES}/${role.id}`, { actors: [] }, credentials);
      expect(lifted.status).toBe(200);
      expect((await send('DELETE', `${keysPath()}/${second}`)).status).toBe(200);
    });

    it('B3: a role of the last admin key cannot be extended', async () => {
      const role = await createRole([deny('usageEventsCreate')]);
      expect((await assign(await getKeyId(server, 'admin'), role.id)).status).toBe(200);
      const extend = (...permissions: string[]) =>
        send('PATCH', `${ROLES}/${role.id}`, { policies: [deny('usageEventsCreate', ...permissions)] });
      const { status, json } = await extend('openapiKeyCreate');
      expect([status, json.error]).toEqual([409, NO_MANAGER]);
      expect((await extend('budgetCreate')).status).toBe(200);
      expect((await read(keysPath())).status).toBe(200);
    });
  });
});
