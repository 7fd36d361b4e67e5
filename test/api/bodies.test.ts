import { beforeEach, expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { head, openRawConnection } from '../support/raw.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { expectFailure } from '../support/shapes.ts';

const MIB = 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
const service = `/v1/organizations/${acme.id}/services/${acme.primary}`;
const path = `${service}/scaling`;
const keys = `/v1/organizations/${acme.id}/keys`;
const bytes = (...values: number[]) => Uint8Array.from(values);
const text = (value: string) => new TextEncoder().encode(value);

/** Valid JSON with exactly this many bytes. */
const padded = (size: number) => `{"numReplicas":4,"padding":"${'a'.repeat(size - 30)}"}`;

onEachStore('request bodies', (store) => {
  const server = useServer(store);
  const stored = async () => (await server.call({ path: service, key: acme.admin })).json.result;
  const patch = (body: string | Uint8Array, headers: Record<string, string> = JSON_TYPE) =>
    server.call({ method: 'PATCH', path, key: acme.admin, text: body, headers });

  beforeEach(async () => {
    const { status } = await server.call({ method: 'PATCH', path, key: acme.admin, body: { numReplicas: 3 } });
    expect(status).toBe(200);
  });

  it.each([
    ['a charset', { 'content-type': 'application/json; charset=utf-8' }],
    ['any letter case', { 'content-type': 'Application/JSON;charset=UTF-8' }],
    ['an identity encoding', { ...JSON_TYPE, 'content-encoding': 'identity' }],
    ['an identity encoding in capitals', { ...JSON_TYPE, 'content-encoding': 'IDENTITY' }],
  ])('B5: the content type can have %s', async (_, headers) => {
    const { status, json } = await patch('{"numReplicas":5}', headers);
    expect([status, json.result?.numReplicas]).toEqual([200, 5]);
  });

  it.each([
    ['text/plain', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a type that only starts like JSON', { 'content-type': 'application/jsonp' }],
    ['an invalid type', { 'content-type': 'json' }],
    ['gzip', { ...JSON_TYPE, 'content-encoding': 'gzip' }],
    ['gzip and plain text', { 'content-type': 'text/plain', 'content-encoding': 'gzip' }],
  ])('B3: returns 415 for a body declared as %s and changes nothing', async (_, headers) => {
    expectFailure(path, await patch('{"numReplicas":5}', headers), 415);
    expect((await stored()).numReplicas).toBe(3);
  });

  it('B3: returns 415 for a body without a content type', async () => {
    expectFailure(path, await patch(text('{"numReplicas":5}'), {}), 415);
    expect((await stored()).numReplicas).toBe(3);
  });

  it('B3: accepts a body of 1 MiB and returns 413 for one byte more', async () => {
    const fits = padded(MIB);
    expect(fits.length).toBe(MIB);
    expect((await patch(fits)).json.result?.numReplicas).toBe(4);
    await server.call({ method: 'PATCH', path, key: acme.admin, body: { numReplicas: 3 } });
    expectFailure(path, await patch(padded(MIB + 1)), 413);
    expect((await stored()).numReplicas).toBe(3);
  });

  it('B3: returns 413 for a chunked body over the limit', async () => {
    const authorization = `Basic ${Buffer.from(`${acme.admin.keyId}:${acme.admin.keySecret}`).toString('base64')}`;
    const connection = await openRawConnection(server.url);
    connection.send(
      head(
        `PATCH ${path} HTTP/1.1`,
        'Host: h',
        `Authorization: ${authorization}`,
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
      ),
    );
    const piece = 'a'.repeat(64 * 1024);
    for (let sent = 0; sent <= MIB; sent += piece.length)
      connection.send(`${piece.length.toString(16)}\r\n${piece}\r\n`);
    expectFailure(path, await connection.response(), 413);
    connection.socket.destroy();
  });

  it('B3: a 413 names the limit', async () => {
    expect((await patch(padded(MIB + 1))).json.error).toBe('PAYLOAD_TOO_LARGE: The request body is larger than 1 MiB');
    const plain = await patch('x'.repeat(MIB + 1), { 'content-type': 'text/plain' });
    expect(plain.json.error).toBe('PAYLOAD_TOO_LARGE: The request body is larger than 1 MiB');
    for (const path of ['/api/v2/dashboards', '/api/v2/charts/series']) {
      const call = { method: 'POST', path, token: acme.writer, headers: JSON_TYPE };
      expect((await server.call({ ...call, text: padded(2 * MIB) })).status).toBe(400);
      const rejected = await server.call({ ...call, text: padded(2 * MIB + 1) });
      expect([rejected.status, rejected.json.message]).toEqual([413, 'The request body is larger than 2 MiB']);
    }
  });

  it('B3, B4: ignores unknown members, but not more values than a body may have', async () => {
    const members = (count: number) => Array.from({ length: count }, (_, index) => `"m${index}":0`).join(',');
    const accepted = await patch(`{"numReplicas":4,${members(24_900)}}`);
    expect([accepted.status, accepted.json.result?.numReplicas]).toEqual([200, 4]);
    const rejected = await patch(`{"numReplicas":5,${members(25_000)}}`);
    expectFailure(path, rejected, 413);
    expect(rejected.json.error).toBe('PAYLOAD_TOO_LARGE: The request body has more than 25000 values');
    expect((await stored()).numReplicas).toBe(4);
  });

  it('B3, B4: a stored dashboard has no unknown members, however many were sent', async () => {
    const members = (count: number) => Array.from({ length: count }, (_, index) => `"m${index}":0`).join(',');
    const post = (count: number) =>
      server.call({
        method: 'POST',
        path: '/api/v2/dashboards',
        token: acme.writer,
        headers: JSON_TYPE,
        text: `{"name":"Many","tiles":[{"x":0,"y":0,"w":1,"h":1,"series":[{"type":"markdown","content":"x",${members(1000)}}],${members(1000)}}],${members(count)}}`,
      });
    const { status, json, text: body } = await post(47_000);
    expect([status, body.length < 500], body.slice(0, 500)).toEqual([200, true]);
    const read = await server.call({ path: `/api/v2/dashboards/${json.data.id}`, token: acme.token });
    expect(read.json.data).toEqual(json.data);
    expectFailure('/api/v2/dashboards', await post(50_000), 413);
  });

  it.each([
    ['no body', undefined],
    ['an empty body', ''],
    ['null', 'null'],
    ['an empty object', '{}'],
    ['whitespace around the object', ' \r\n\t{} \n'],
    ['only unknown members', '{"name":"x","unknown":[1]}'],
    [
      'null for every member',
      '{"numReplicas":null,"idleScaling":null,"idleTimeoutMinutes":null,"minTotalMemoryGb":null,"maxTotalMemoryGb":null}',
    ],
  ])('B4, B5: %s returns 200 and changes nothing', async (_, body) => {
    const before = await stored();
    const { status, json } = await server.call({
      method: 'PATCH',
      path,
      key: acme.admin,
      headers: body === undefined ? {} : JSON_TYPE,
      ...(body === undefined ? {} : { text: body }),
    });
    expect(status).toBe(200);
    expect(json.result).toMatchObject({ numReplicas: 3, idleTimeoutMinutes: before.idleTimeoutMinutes });
    expect(await stored()).toEqual(before);
  });

  it.each([
    ['a zero fraction', '{"numReplicas": 4.0}'],
    ['an exponent', '{"numReplicas": 0.4e1}'],
    ['a repeated member: the last wins', '{"numReplicas": 99, "numReplicas": 4}'],
    ['a byte order mark', '\uFEFF{"numReplicas": 4}'],
    ['escapes in a name', '{"\\u006eumReplicas": 4}'],
    ['100 levels of something unknown', `{"numReplicas": 4, "deep": ${'['.repeat(99)}${']'.repeat(99)}}`],
    ['brackets inside a string', `{"numReplicas": 4, "text": "${'['.repeat(300)}\\"{"}`],
  ])('B5: %s is parsed as JSON', async (_, body) => {
    const { status, json } = await patch(body);
    expect([status, json.result?.numReplicas]).toEqual([200, 4]);
  });

  it.each([
    ['an array', '[]'],
    ['an array of objects', '[{"numReplicas":4}]'],
    ['a string', '"numReplicas"'],
    ['a number', '4'],
    ['true', 'true'],
    ['truncated JSON', '{"numReplicas": 4'],
    ['two documents', '{"numReplicas": 4}{}'],
    ['a comment', '{"numReplicas": 4 /* four */}'],
    ['a trailing comma', '{"numReplicas": 4,}'],
    ['NaN', '{"idleTimeoutMinutes": NaN}'],
    ['a number out of range', '{"idleTimeoutMinutes": 1e400}'],
    ['nearly a multiple of 12', '{"minTotalMemoryGb": 24.000000000000004}'],
    ['nearly a whole number', '{"numReplicas": 4.000000000000001}'],
    ['a number in quotes', '{"numReplicas": "4"}'],
    ['only whitespace', '   '],
    ['200 levels of arrays', `${'['.repeat(200)}${']'.repeat(200)}`],
    ['200 levels of objects', `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`],
    ['101 levels in an unknown member', `{"numReplicas": 4, "deep": ${'['.repeat(100)}${']'.repeat(100)}}`],
    ['1 MiB of opening brackets', '['.repeat(MIB)],
    ['invalid UTF-8', bytes(...text('{"numReplicas":4,"a":"'), 0xff, 0xfe, ...text('"}'))],
    ['a truncated UTF-8 character', bytes(...text('{"numReplicas":4,"a":"'), 0xe2, 0x82, ...text('"}'))],
    ['UTF-16', bytes(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00)],
    ['a NUL byte', bytes(...text('{"numReplicas":4}'), 0)],
  ])('B5: %s returns 400 and changes nothing', async (_, body) => {
    const before = await stored();
    expectFailure(path, await patch(body), 400);
    expect(await stored()).toEqual(before);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'B5: a member named %s is ignored',
    async (name) => {
      const { status } = await patch(`{"${name}": {"numReplicas": 9, "idleScaling": false}}`);
      expect(status).toBe(200);
      expect(await stored()).toMatchObject({ numReplicas: 3, idleScaling: true });
      const created = await server.call({
        method: 'POST',
        path: keys,
        key: acme.admin,
        text: `{"name": "by ${name}", "${name}": {"state": "disabled", "roles": ["admin"]}}`,
        headers: JSON_TYPE,
      });
      expect(created.json.result?.key).toMatchObject({ name: `by ${name}`, state: 'enabled', roles: ['developer'] });
    },
  );

  it('B5: a POST without a body creates a key with every default', async () => {
    const { status, json } = await server.call({ method: 'POST', path: keys, key: acme.admin });
    expect(status).toBe(200);
    expect(json.result.key).toMatchObject({
      name: 'API key',
      state: 'enabled',
      roles: ['developer'],
      expireAt: null,
      ipAccessList: [],
    });
  });
});
