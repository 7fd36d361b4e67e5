import { expect, it } from 'vitest';
import { acme, globex } from '../support/fleet.ts';
import { createKey, keysPath, postKey, readWithKey, sha256, toHashData } from '../support/keys.ts';
import { onEachStore, useServer } from '../support/server.ts';

const NOT_A_HASH = 'The value must be a SHA-256 in base64, 44 characters';
const EMPTY = 'The value is the hash of an empty string; hash the real value';
const good = toHashData({ keyId: 'never-stored-id', keySecret: 'never-stored-secret' });

onEachStore('create key with hashData', (store) => {
  const server = useServer(store);

  it.each([
    ['like generated ones', { keyId: 'BroughtKey0000000001', keySecret: 'phs_brought' }],
    ['short', { keyId: 'abcd', keySecret: '' }],
    ['long', { keyId: `${'k'.repeat(500)}last`, keySecret: 's'.repeat(2000) }],
    ['with colons in the secret', { keyId: 'colons-in-secret', keySecret: ':a:b:' }],
    ['with spaces and other scripts', { keyId: 'ключ с пробелами 0001', keySecret: 'пароль 🔑 ' }],
  ])('K7: credentials that are %s authenticate by their hashes', async (_, credentials) => {
    const { status, json } = await postKey(server, {
      name: 'brought',
      roles: ['admin'],
      hashData: toHashData(credentials),
    });
    expect(status).toBe(200);
    expect(Object.keys(json.result)).toEqual(['key']);
    expect(json.result.key).toMatchObject({
      name: 'brought',
      roles: ['admin'],
      state: 'enabled',
      keySuffix: credentials.keyId.slice(-4),
    });
    expect((await readWithKey(server, credentials)).status).toBe(200);
    expect((await readWithKey(server, { ...credentials, keySecret: `${credentials.keySecret}x` })).json.error).toBe(
      'UNAUTHORIZED: Key is not found',
    );
  });

  it('K7: the hashes are not accepted as credentials', async () => {
    const hashData = toHashData({ keyId: 'hash-is-no-id-0001', keySecret: 'hash-is-no-secret' });
    expect((await postKey(server, { hashData })).status).toBe(200);
    expect((await readWithKey(server, { keyId: hashData.keyIdHash, keySecret: hashData.keySecretHash })).status).toBe(
      401,
    );
  });

  it.each([
    ['no members', {}, ['keyIdHash', 'keyIdSuffix', 'keySecretHash'], 'The value is required <missing>'],
    ['no keyIdHash', { ...good, keyIdHash: undefined }, ['keyIdHash'], 'The value is required <missing>'],
    ['no keyIdSuffix', { ...good, keyIdSuffix: undefined }, ['keyIdSuffix'], 'The value is required <missing>'],
    ['no keySecretHash', { ...good, keySecretHash: undefined }, ['keySecretHash'], 'The value is required <missing>'],
    ['null as keySecretHash', { ...good, keySecretHash: null }, ['keySecretHash'], 'The value must be a string <null>'],
    ['a number as keyIdHash', { ...good, keyIdHash: 7 }, ['keyIdHash'], 'The value must be a string <number>'],
    [
      'hex',
      { ...good, keyIdHash: Buffer.from(good.keyIdHash, 'base64').toString('hex') },
      ['keyIdHash'],
      `${NOT_A_HASH} <string>`,
    ],
    [
      'base64 without padding',
      { ...good, keyIdHash: good.keyIdHash.slice(0, -1) },
      ['keyIdHash'],
      `${NOT_A_HASH} <string>`,
    ],
    ['base64url', { ...good, keySecretHash: `${'-_'.repeat(21)}A=` }, ['keySecretHash'], `${NOT_A_HASH} <string>`],
    [
      'bits after the end',
      { ...good, keySecretHash: `${'A'.repeat(42)}B=` },
      ['keySecretHash'],
      `${NOT_A_HASH} <string>`,
    ],
    [
      'a hash of 20 bytes',
      { ...good, keySecretHash: Buffer.alloc(20).toString('base64') },
      ['keySecretHash'],
      `${NOT_A_HASH} <string>`,
    ],
    [
      'a hash of 33 bytes',
      { ...good, keySecretHash: Buffer.alloc(33).toString('base64') },
      ['keySecretHash'],
      `${NOT_A_HASH} <string>`,
    ],
    ['an empty hash', { ...good, keyIdHash: '' }, ['keyIdHash'], `${NOT_A_HASH} <string>`],
    ['a line break', { ...good, keyIdHash: `${good.keyIdHash}\n` }, ['keyIdHash'], `${NOT_A_HASH} <string>`],
    ['the hash of an empty id', { ...good, keyIdHash: sha256('') }, ['keyIdHash'], `${EMPTY} <string>`],
    ['the hash of an empty secret', { ...good, keySecretHash: sha256('') }, ['keySecretHash'], `${EMPTY} <string>`],
    [
      'a suffix of 3 characters',
      { ...good, keyIdSuffix: 'abc' },
      ['keyIdSuffix'],
      'The value must be the last 4 characters of the key id <string>',
    ],
    [
      'a suffix of 5 characters',
      { ...good, keyIdSuffix: 'abcde' },
      ['keyIdSuffix'],
      'The value must be the last 4 characters of the key id <string>',
    ],
    [
      'an empty suffix',
      { ...good, keyIdSuffix: '' },
      ['keyIdSuffix'],
      'The value must be the last 4 characters of the key id <string>',
    ],
  ])('K7, M3: rejects hashData with %s, field by field, without echoing it', async (_, hashData, members, rule) => {
    const { status, json, text } = await postKey(server, { hashData });
    expect(status).toBe(400);
    expect(json.error).toBe(
      `BAD_REQUEST: ${members.map((member) => `request body.hashData.${member}: ${rule}`).join('; ')}`,
    );
    for (const value of Object.values(hashData))
      if (typeof value === 'string' && value.length > 3) expect(text).not.toContain(value);
  });

  it.each([['secret-text'], [['secret-text']], [7], [true]])(
    'K7, M3: rejects hashData %j, which is not an object, without echoing it',
    async (hashData) => {
      const { status, json } = await postKey(server, { hashData });
      expect(status).toBe(400);
      expect(json.error).toMatch(
        /^BAD_REQUEST: request body\.hashData: The value must be an object <(string|array|number|boolean)>$/,
      );
    },
  );

  it.each([
    ['of the same organization', acme],
    ['of another organization', globex],
  ])('K7: the key id of a key %s is a conflict without further details', async (_, owner) => {
    const credentials = { keyId: `TakenBy${owner.id}`, keySecret: 'first' };
    expect((await postKey(server, { hashData: toHashData(credentials) }, owner)).status).toBe(200);
    const hashData = { ...toHashData(credentials), keySecretHash: sha256('second') };
    const { status, json } = await postKey(server, { name: 'late', hashData });
    expect([status, json.error]).toEqual([409, 'CONFLICT: A key with this id already exists']);
    const { json: list } = await server.call({ path: keysPath(), key: acme.admin });
    expect(list.result.map(({ name }: { name: string }) => name)).not.toContain('late');
    expect((await readWithKey(server, { ...credentials, keySecret: 'second' })).status).toBe(401);
    expect((await readWithKey(server, credentials)).status).toBe(200);
  });

  it('K7: the id of a generated or declared key is a conflict too', async () => {
    const { credentials } = await createKey(server);
    for (const { keyId } of [credentials, globex.admin]) {
      expect((await postKey(server, { hashData: toHashData({ keyId, keySecret: 'x' }) })).status).toBe(409);
    }
  });

  it('K7: of concurrent requests with the same id, one succeeds', async () => {
    const hashData = toHashData({ keyId: 'race-for-one-id', keySecret: 'x' });
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) => postKey(server, { hashData }, index % 2 === 0 ? acme : globex)),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
  });

  it('K7: the id of a deleted key can be reused', async () => {
    const credentials = { keyId: 'deleted-and-back', keySecret: 'x' };
    const first = await postKey(server, { hashData: toHashData(credentials) });
    await server.call({ method: 'DELETE', path: `${keysPath()}/${first.json.result.key.id}`, key: acme.admin });
    expect((await readWithKey(server, credentials)).status).toBe(401);
    expect((await postKey(server, { hashData: toHashData(credentials) })).status).toBe(200);
    expect((await readWithKey(server, credentials)).status).toBe(200);
  });
});
