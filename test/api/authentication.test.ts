import { describe, expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { createKey, readWithKey } from '../support/keys.ts';
import { onEachStore, useServer } from '../support/server.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const good = base64(`${acme.admin.keyId}:${acme.admin.keySecret}`);

const NONE = 'UNAUTHORIZED: No Authorization header provided';
const MALFORMED = 'UNAUTHORIZED: Malformed Authorization header';
const NOT_FOUND = 'UNAUTHORIZED: Key is not found';
const NOT_ACTIVE = 'UNAUTHORIZED: Key is not active';
const BAD_TOKEN = 'Unauthorized access. API key is missing or invalid.';

onEachStore('authentication', (store) => {
  const server = useServer(store);
  const manage = (authorization?: string) =>
    server.call({ path: '/v1/organizations', headers: authorization === undefined ? {} : { authorization } });

  it.each([
    ['no header', undefined, NONE],
    ['an empty header', '', MALFORMED],
    ['the scheme alone', 'Basic', MALFORMED],
    ['the scheme and a space', 'Basic ', MALFORMED],
    ['credentials without a scheme', good, MALFORMED],
    ['a token', `Bearer ${acme.token}`, MALFORMED],
    ['the right credentials as Bearer', `Bearer ${good}`, MALFORMED],
    ['another scheme', 'Digest username="a"', MALFORMED],
    ['a scheme that only starts with Basic', `Basics ${good}`, MALFORMED],
    ['invalid base64', 'Basic !!!!', MALFORMED],
    ['base64 and more', `Basic ${good} x`, MALFORMED],
    ['no colon', `Basic ${base64(acme.admin.keyId)}`, MALFORMED],
    ['an empty id and secret', `Basic ${base64(':')}`, NOT_FOUND],
    ['an empty secret', `Basic ${base64(`${acme.admin.keyId}:`)}`, NOT_FOUND],
    ['an unknown id', `Basic ${base64(`Nobody00000000000000:${acme.admin.keySecret}`)}`, NOT_FOUND],
    ['a wrong secret', `Basic ${base64(`${acme.admin.keyId}:wrong`)}`, NOT_FOUND],
    ['a longer secret', `Basic ${base64(`${acme.admin.keyId}:${acme.admin.keySecret}x`)}`, NOT_FOUND],
    [
      'an id in different letter case',
      `Basic ${base64(`${acme.admin.keyId.toLowerCase()}:${acme.admin.keySecret}`)}`,
      NOT_FOUND,
    ],
    ['the secret of another key', `Basic ${base64(`${acme.admin.keyId}:${acme.developer.keySecret}`)}`, NOT_FOUND],
    ['a disabled key', `Basic ${base64(`${acme.disabled.keyId}:${acme.disabled.keySecret}`)}`, NOT_ACTIVE],
    ['a disabled key with a wrong secret', `Basic ${base64(`${acme.disabled.keyId}:wrong`)}`, NOT_FOUND],
    ['an expired key', `Basic ${base64(`${acme.expired.keyId}:${acme.expired.keySecret}`)}`, NOT_ACTIVE],
    ['an expired key with a wrong secret', `Basic ${base64(`${acme.expired.keyId}:wrong`)}`, NOT_FOUND],
  ])('M5: returns 401 with the reason for %s', async (_, authorization, error) => {
    const { status, json, headers } = await manage(authorization);
    expect(status).toBe(401);
    expect(json).toEqual({ requestId: headers.get('x-request-id'), error, status: 401 });
    expect(headers.get('www-authenticate')).toBe('Basic realm="pilothouse", charset="UTF-8"');
    expect(headers.get('x-ratelimit-limit')).toBeNull();
  });

  it.each([
    ['Basic', `Basic ${good}`],
    ['basic', `basic ${good}`],
    ['BASIC', `BASIC ${good}`],
    ['two spaces', `Basic  ${good}`],
    ['no padding', `Basic ${good.replaceAll('=', '')}`],
  ])('B8: accepts the scheme in any case: %s', async (_, authorization) => {
    expect((await manage(authorization)).status).toBe(200);
  });

  it('M5: responses to an unknown id and a wrong secret differ only in the request id', async () => {
    const responses = [
      await readWithKey(server, { keyId: 'Nobody00000000000000', keySecret: 'x' }),
      await readWithKey(server, { ...acme.admin, keySecret: 'x' }),
    ];
    const [unknown, wrong] = responses.map(({ text, json, headers }) => {
      const compared = [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name));
      return { text: text.replace(json.requestId, ''), headers: compared };
    });
    expect(unknown).toEqual(wrong);
  });

  it('M5: an accepted header is rejected once its key is disabled', async () => {
    const { credentials } = await createKey(server);
    expect((await readWithKey(server, credentials)).status).toBe(200);
    expect((await readWithKey(server, { ...credentials, keySecret: `${credentials.keySecret} ` })).json.error).toBe(
      NOT_FOUND,
    );
    expect((await readWithKey(server, credentials)).status).toBe(200);
  });

  describe('of the dashboard API', () => {
    const read = (authorization?: string) =>
      server.call({ path: '/api/v2/dashboards', headers: authorization === undefined ? {} : { authorization } });

    it.each([
      ['no header', undefined],
      ['an empty header', ''],
      ['the scheme alone', 'Bearer'],
      ['a token without a scheme', acme.token],
      ['an unknown token', 'Bearer unknown'],
      ['two tokens', `Bearer ${acme.token} ${acme.token}`],
      ['a token in different letter case', `Bearer ${acme.token.toUpperCase()}`],
      ['the credentials of a key', `Basic ${good}`],
      ['the credentials of a key as Bearer', `Bearer ${good}`],
    ])('D1: returns 401 with the same message for %s', async (_, authorization) => {
      const { status, json, headers } = await read(authorization);
      expect([status, json]).toEqual([401, { message: BAD_TOKEN }]);
      expect(headers.get('www-authenticate')).toBe('Bearer realm="pilothouse"');
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    });

    it.each(['Bearer', 'bearer', 'BEARER'])('B8: accepts the scheme in any case: %s', async (scheme) => {
      expect((await read(`${scheme} ${acme.token}`)).status).toBe(200);
    });
  });
});
