import { describe, expect, it } from 'vitest';
import type { Credentials } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { createKey, getKeyId, keysPath, readWithKey } from '../support/keys.ts';
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
});
