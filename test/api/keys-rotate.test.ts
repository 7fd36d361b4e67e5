import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { createKey, getKeyId, keysPath, readWithKey, toHashData } from '../support/keys.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { readStoreText } from '../support/store-text.ts';

const HOUR_MS = 3_600_000;

onEachStore('rotate key', (store) => {
  const server = useServer(store, { args: ['--max-keys', '40'], inProcess: false });
  const rotate = (id: string, body?: unknown, key = acme.admin) =>
    server.call({
      method: 'POST',
      path: `${keysPath()}/${id}/rotate`,
      key,
      ...(body === undefined ? {} : { body }),
    });
  const get = async (id: string) => (await server.call({ path: `${keysPath()}/${id}`, key: acme.admin })).json.result;
  const status = async (key: { keyId: string; keySecret: string }) => (await readWithKey(server, key)).status;
  const hoursUntil = (time: string) => (Date.parse(time) - Date.now()) / HOUR_MS;

  it('K1, K2: returns a new key with the same settings once, and the old key works for 24 hours', async () => {
    const settings = {
      name: 'ci',
      roles: ['admin', 'developer'],
      ipAccessList: [{ source: '127.0.0.0/8', description: 'here' }],
    };
    const old = await createKey(server, settings);
    const { status: code, json, headers } = await rotate(old.id.toUpperCase());
    expect([code, headers.get('cache-control')]).toEqual([200, 'no-store']);
    const { key, keyId, keySecret, previous } = json.result;
    expect(key).toMatchObject({ ...settings, state: 'enabled', expireAt: null, keySuffix: keyId.slice(-4) });
    expect(key.id).not.toBe(old.id);
    expect(keyId).toMatch(/^[A-Za-z0-9]{20}$/);
    expect(keySecret).toMatch(/^phs_/);
    expect(hoursUntil(previous.expireAt)).toBeGreaterThan(23.9);
    expect(hoursUntil(previous.expireAt)).toBeLessThan(24.1);
    expect(previous).toMatchObject({ ...settings, id: old.id, state: 'enabled' });
    const { usedAt: _used, ...stored } = await get(old.id);
    expect(previous).toMatchObject(stored);
    expect(await status({ keyId, keySecret })).toBe(200);
    expect(await status(old.credentials)).toBe(200);
    expect(await readStoreText(server)).not.toContain(keySecret);
    expect(server.log()).not.toContain(keySecret);
  });

  it('K9: with a grace period of 0, the old key is rejected from the next request on', async () => {
    const old = await createKey(server, { name: 'now' });
    const { keyId, keySecret } = (await rotate(old.id, { gracePeriodHours: 0 })).json.result;
    const rejected = await readWithKey(server, old.credentials);
    expect([rejected.status, rejected.json.error]).toEqual([401, 'UNAUTHORIZED: Key is not active']);
    expect(await status({ keyId, keySecret })).toBe(200);
  });

  it('K4: keeps the lifetime of the key, and the old key never outlives its own expiry', async () => {
    const expireAt = new Date(Date.now() + 2 * HOUR_MS).toISOString();
    const old = await createKey(server, { name: 'brief', expireAt });
    const { key, previous } = (await rotate(old.id, { gracePeriodHours: 168 })).json.result;
    expect(previous.expireAt).toBe((await get(old.id)).expireAt);
    expect(Date.parse(previous.expireAt)).toBe(Date.parse(expireAt));
    expect(hoursUntil(key.expireAt)).toBeGreaterThan(1.9);
    expect(hoursUntil(key.expireAt)).toBeLessThan(2.1);
  });

  it('K7: accepts the hashes of credentials that the client keeps', async () => {
    const old = await createKey(server, { name: 'hashed' });
    const own = { keyId: `own-${randomUUID()}`, keySecret: 'kept-by-the-client' };
    const { json } = await rotate(old.id, { hashData: toHashData(own) });
    expect(json.result).not.toHaveProperty('keySecret');
    expect(json.result.key.keySuffix).toBe(own.keyId.slice(-4));
    expect(await status(own)).toBe(200);
    const taken = await rotate(json.result.key.id, { hashData: toHashData(own) });
    expect([taken.status, taken.json.error]).toEqual([409, expect.stringContaining('already exists')]);
    expect((await get(json.result.key.id)).expireAt).toBeNull();
  });

  it('a key can rotate itself, even the last admin key', async () => {
    const path = keysPath(globex);
    const id = await getKeyId(server, 'admin', globex);
    const { status: code, json } = await server.call({
      method: 'POST',
      path: `${path}/${id}/rotate`,
      key: globex.admin,
    });
    expect(code).toBe(200);
    expect((await server.call({ path, key: json.result })).status).toBe(200);
    expect((await server.call({ path, key: globex.admin })).status).toBe(200);
  });

  it('records both changes, linked to each other', async () => {
    const old = await createKey(server, { name: 'audited' });
    const { key } = (await rotate(old.id)).json.result;
    const { json } = await server.call({ path: `/v1/organizations/${acme.id}/activities?limit=2`, key: acme.admin });
    const [update, creation] = json.result as Json[];
    expect(creation).toMatchObject({
      type: 'key_create',
      resourceId: key.id,
      after: { name: 'audited', replaces: old.id },
    });
    expect(update).toMatchObject({
      type: 'openapi_key_update',
      resourceId: old.id,
      before: { expireAt: null },
      after: { expireAt: expect.any(String), replacedBy: key.id },
    });
  });

  it.each([
    [{ gracePeriodHours: -1 }, 'gracePeriodHours'],
    [{ gracePeriodHours: 168.5 }, 'gracePeriodHours'],
    [{ gracePeriodHours: '24' }, 'gracePeriodHours'],
    [{ hashData: {} }, 'hashData.keyIdHash'],
  ])('M3: %j returns 400 and changes nothing', async (body, member) => {
    const id = await getKeyId(server, 'developer');
    const { status: code, json } = await rotate(id, body);
    expect([code, json.error]).toEqual([400, expect.stringContaining(`request body.${member}: `)]);
    expect((await get(id)).expireAt).toBeNull();
  });

  it('rejects a disabled, expired or missing key, and keys of other organizations', async () => {
    for (const name of ['disabled', 'expired']) {
      const { status: code, json } = await rotate(await getKeyId(server, name));
      expect([code, json.error]).toEqual([
        409,
        'CONFLICT: Only an active key can be rotated; this key is disabled or has expired',
      ]);
    }
    const foreign = await getKeyId(server, 'admin', { id: acme.id, admin: acme.admin });
    const other = await server.call({
      method: 'POST',
      path: `${keysPath(globex)}/${foreign}/rotate`,
      key: globex.admin,
    });
    expect(other.status).toBe(404);
    expect((await rotate(randomUUID())).status).toBe(404);
    expect((await rotate(foreign, {}, acme.developer)).status).toBe(403);
  });

  it('K8: counts against the limit, and a rejected rotation leaves the old key as it is', async () => {
    const old = await createKey(server, { name: 'at the limit' });
    for (;;) {
      const { status: code } = await server.call({ method: 'POST', path: keysPath(), key: acme.admin, body: {} });
      if (code === 409) break;
      expect(code).toBe(200);
    }
    const { status: code, json } = await rotate(old.id);
    expect([code, json.error]).toEqual([409, expect.stringContaining('limit of 40 keys')]);
    expect((await get(old.id)).expireAt).toBeNull();
    expect(await status(old.credentials)).toBe(200);
  });
});
