import { expect, it } from 'vitest';
import { acme, globex } from '../support/fleet.ts';
import { createKey, keysPath, postKey, readWithKey, sha256, toHashData } from '../support/keys.ts';
import { onEachStore, startServer } from '../support/server.ts';
import { readStoreText } from '../support/store-text.ts';

onEachStore('the secrets of a key', (store) => {
  it('K1, K7: are not in the store, and neither they nor their hashes are in responses, activities or logs', async () => {
    const server = await startServer(store, { args: ['--log-level', 'trace'] });
    try {
      const { id, credentials: made } = await createKey(server, { roles: ['admin'] });
      const imported = { keyId: 'brought-key-id-0001', keySecret: 'brought-key-secret' };
      await postKey(server, { hashData: toHashData(imported), roles: ['admin'] });
      await postKey(server, { hashData: toHashData(imported) });
      await postKey(server, { hashData: { ...toHashData(imported), keyIdSuffix: 'wrong' } });
      await server.call({ method: 'PATCH', path: `${keysPath()}/${id}`, key: made, body: { name: 'renamed' } });
      await readWithKey(server, { ...made, keySecret: `${made.keySecret}x` });
      await readWithKey(server, { ...imported, keySecret: 'mistyped-secret' });
      await server.call({ method: 'DELETE', path: `${keysPath()}/${id}`, key: acme.admin });
      await server.call({ path: '/api/v2/dashboards', token: `${acme.token}x` });

      const responses = [];
      for (const path of [
        keysPath(),
        `/v1/organizations/${acme.id}/activities?limit=1000`,
        '/v1/organizations',
        '/v1',
      ]) {
        responses.push((await server.call({ path, key: acme.admin })).text);
      }
      await server.stop();
      const secrets = [made.keyId, made.keySecret, imported.keyId, imported.keySecret, 'mistyped-secret', acme.token];
      for (const key of [acme.admin, acme.disabled, globex.admin]) secrets.push(key.keyId, key.keySecret);
      const stored = await readStoreText(server);
      expect(stored, 'the text that is searched is really the store').toContain(acme.id);
      expect(stored, 'the store contains the hash of the secret').toContain(sha256(imported.keySecret));
      for (const secret of secrets) expect(stored).not.toContain(secret);

      const basic = ({ keyId, keySecret }: typeof made) => Buffer.from(`${keyId}:${keySecret}`).toString('base64');
      const everything = [...secrets, ...secrets.map(sha256), basic(made), basic(imported), basic(acme.admin)];
      const log = server.log();
      expect(log, 'the log is really there').toContain('openapiKeyCreate');
      for (const secret of everything) {
        expect(log).not.toContain(secret);
        for (const text of responses) expect(text).not.toContain(secret);
      }
    } finally {
      await server.remove();
    }
  });
});
