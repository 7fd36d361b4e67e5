import { expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { createKey, keysPath, postKey, readWithKey } from '../support/keys.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const NOT_A_TIME = 'The value must be an ISO 8601 date-time with an offset or Z';

onEachStore('key expiry', (store) => {
  const server = useServer(store);

  it.each([
    [undefined, null],
    [null, null],
    ['', null],
    ['2099-06-01T12:00:00Z', '2099-06-01T12:00:00Z'],
    ['2099-06-01T12:00:00.250Z', '2099-06-01T12:00:00.250Z'],
    ['2099-06-01T12:00:00.000000Z', '2099-06-01T12:00:00Z'],
    ['2099-06-01T12:00Z', '2099-06-01T12:00:00Z'],
    ['2099-06-01T12:00:00+02:00', '2099-06-01T10:00:00Z'],
    ['2099-06-01T12:00:00-0530', '2099-06-01T17:30:00Z'],
    ['2099-12-31T23:30:00-01:00', '2100-01-01T00:30:00Z'],
    ['2096-02-29T00:00:00Z', '2096-02-29T00:00:00Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
  ])('K4: expireAt %j is returned as %j', async (expireAt, expected) => {
    const { status, json } = await postKey(server, { expireAt });
    expect(status).toBe(200);
    expect(json.result.key.expireAt).toBe(expected);
    const again = await server.call({ path: `${keysPath()}/${json.result.key.id}`, key: acme.admin });
    expect(again.json.result.expireAt).toBe(expected);
  });

  it.each([
    ['2099-06-01T12:00:00', NOT_A_TIME],
    ['2099-06-01', NOT_A_TIME],
    ['2099-02-29T00:00:00Z', NOT_A_TIME],
    ['2099-13-01T00:00:00Z', NOT_A_TIME],
    ['2099-06-31T00:00:00Z', NOT_A_TIME],
    ['2099-06-01T24:00:00Z', NOT_A_TIME],
    ['2099-06-01T12:60:00Z', NOT_A_TIME],
    ['2099-06-01T00:00:60Z', NOT_A_TIME],
    ['2099-06-01T12:00:00+24:00', NOT_A_TIME],
    ['2099-06-01 12:00:00Z', NOT_A_TIME],
    [' 2099-06-01T12:00:00Z', NOT_A_TIME],
    ['tomorrow', NOT_A_TIME],
    ['4102444800', NOT_A_TIME],
    ['2020-01-01T00:00:00Z', 'The value must be in the future'],
    ['1969-12-31T23:59:59Z', 'The value must be in the future'],
    ['9999-12-31T23:59:59-14:00', NOT_A_TIME],
  ])('K4, M3: rejects expireAt %j', async (expireAt, rule) => {
    const { status, json } = await postKey(server, { expireAt });
    expect(status).toBe(400);
    expect(json.error).toBe(`BAD_REQUEST: request body.expireAt: ${rule} <string:${expireAt}>`);
  });

  it.each([
    [4102444800000, '<number:4102444800000>'],
    [false, '<boolean:false>'],
    [[], '<array>'],
    [{}, '<object>'],
  ])('K4: rejects expireAt %j, which is neither a string nor null', async (expireAt, expected) => {
    const { status, json } = await postKey(server, { expireAt });
    expect(status).toBe(400);
    expect(json.error).toBe(`BAD_REQUEST: request body.expireAt: The value must be a string or null ${expected}`);
  });

  it.each([
    ['soon', NOT_A_TIME],
    ['2020-01-01T00:00:00Z', 'The value must be in the future'],
  ])('M3: names expireAt %j together with every other violated member', async (expireAt, rule) => {
    const body = { name: '', expireAt, ipAccessList: [{ source: 'x' }], roles: [], state: 'off' };
    const { id } = await createKey(server);
    const key = await server.call({ method: 'PATCH', path: `${keysPath()}/${id}`, key: acme.admin, body });
    const token = await server.call({
      method: 'POST',
      path: `/v1/organizations/${acme.id}/dashboardTokens`,
      key: acme.admin,
      body: { ...body, access: 'all' },
    });
    const members = [
      'name: The value must not be empty <string:>',
      `expireAt: ${rule} <string:${expireAt}>`,
      'ipAccessList[0].source: The value must be an IPv4 or IPv6 address or a CIDR <string:x>',
      'roles: The list must have at least 1 element <array>',
      'state: The value must be one of enabled, disabled <string:off>',
    ].map((text) => `request body.${text}`);
    const access = 'request body.access: The value must be one of read, write, ingest <string:all>';
    expect((await postKey(server, body)).json.error).toBe(`BAD_REQUEST: ${members.join('; ')}`);
    expect(key.json.error).toBe(`BAD_REQUEST: ${members.join('; ')}`);
    expect(token.json.error).toBe(`BAD_REQUEST: ${[members[0], access, members[1]].join('; ')}`);
  });

  it('K9: rejects an expired key from the next request on, and keeps its record', async () => {
    const expireAt = Date.now() + 500;
    const { id, credentials } = await createKey(server, { expireAt: new Date(expireAt).toISOString() });
    await until(
      async () => Date.now(),
      (now) => now > expireAt,
      'the clock does not reach the expiry',
    );
    const { status, json } = await readWithKey(server, credentials);
    expect([status, json.error]).toEqual([401, 'UNAUTHORIZED: Key is not active']);
    expect((await server.call({ path: `${keysPath()}/${id}`, key: acme.admin })).json.result.state).toBe('enabled');
  });

  it('K4: an expired key works again after its expiry is removed', async () => {
    expect((await readWithKey(server, acme.expired)).json.error).toBe('UNAUTHORIZED: Key is not active');
    const list = await server.call({ path: keysPath(), key: acme.admin });
    const { id, expireAt } = list.json.result.find(({ name }: { name: string }) => name === 'expired');
    expect(expireAt).toBe('2026-01-01T00:00:00Z');
    await server.call({ method: 'PATCH', path: `${keysPath()}/${id}`, key: acme.admin, body: { expireAt: null } });
    expect((await readWithKey(server, acme.expired)).status).toBe(200);
  });
});
