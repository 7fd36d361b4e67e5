import { expect, it } from 'vitest';
import { acme, globex } from '../support/fleet.ts';
import { createKey, getKeyId, keysPath, postKey, toHashData } from '../support/keys.ts';
import { onEachStore, useServer } from '../support/server.ts';

onEachStore('the key limit of an organization', (store) => {
  // The fleet file declares five for Acme (one disabled, one expired) and one for Globex.
  const server = useServer(store, { args: ['--max-keys', '7'] });
  const count = async () => (await server.call({ path: keysPath(), key: acme.admin })).json.result.length;

  it('K8: concurrent requests create exactly as many keys as the limit allows, disabled keys included', async () => {
    const responses = await Promise.all(Array.from({ length: 6 }, () => postKey(server, { state: 'disabled' })));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409, 409, 409]);
    const rejected = responses.find(({ status }) => status === 409);
    expect(rejected?.json.error).toBe('CONFLICT: The organization has reached its limit of 7 keys; delete one first');
    expect(await count()).toBe(7);
  });

  it('K8: the limit is per organization', async () => {
    expect((await postKey(server, {}, globex)).status).toBe(200);
  });

  it('B8: an invalid body is reported before the limit', async () => {
    expect((await postKey(server, { roles: [] })).status).toBe(400);
  });

  it('K8: accepts another key after one is deleted', async () => {
    await server.call({ method: 'DELETE', path: `${keysPath()}/${await getKeyId(server, 'query')}`, key: acme.admin });
    await createKey(server);
    expect((await postKey(server)).status).toBe(409);
  });

  it('K7, K8: a duplicate key id does not count; at the limit, the limit is reported first', async () => {
    const hashData = toHashData(globex.admin);
    expect((await postKey(server, { hashData })).json.error).toMatch(/limit of 7 keys/);
    const { json } = await server.call({ path: keysPath(), key: acme.admin });
    const [made] = json.result.filter(({ name }: { name: string }) => name === 'API key');
    await server.call({ method: 'DELETE', path: `${keysPath()}/${made.id}`, key: acme.admin });
    expect((await postKey(server, { hashData })).json.error).toMatch(/this id already exists/);
    await createKey(server);
    expect(await count()).toBe(7);
  });
});
