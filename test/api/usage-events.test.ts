import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it, vi } from 'vitest';
import { acme, globex } from '../support/fleet.ts';
import { openRawConnection } from '../support/raw.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { expectFailure } from '../support/shapes.ts';
import { until } from '../support/until.ts';

// Starts processes and an engine, and waits for usage to be rated.
vi.setConfig({ testTimeout: 120_000 });

const path = `/v1/organizations/${acme.id}/usageEvents`;
const LINES = { 'content-type': 'application/x-ndjson' };
const JSON_TYPE = { 'content-type': 'application/json' };
const DAY = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

let number = 0;
const event = (fields: object = {}) => ({
  id: `event-${number++}`,
  source: 'test',
  time: `${DAY}T10:00:00Z`,
  entityType: 'service',
  entityId: acme.primary,
  meter: 'compute',
  quantity: 60,
  ...fields,
});

onEachStore('usage events', (store) => {
  const server = useServer(store, { inProcess: false });
  const post = (text: string | Uint8Array, headers: Record<string, string> = LINES) =>
    server.call({ method: 'POST', path, key: acme.admin, text, headers });
  const lines = (...events: object[]) => events.map((one) => JSON.stringify(one)).join('\n');

  const entityId = acme.secondary;
  // Rated while the other tests run.
  beforeAll(async () => {
    const sent = lines(event({ entityId, quantity: 60 }), event({ entityId, quantity: '0.5' }));
    for (let time = 0; time < 3; time++) expect((await post(sent)).status).toBe(200);
  });

  it('accepts arrays and lines, compressed or not, and counts the events', async () => {
    const [one, two, three] = [event(), event(), event()];
    const first = await server.call({
      method: 'POST',
      path,
      key: acme.admin,
      body: [one, { ...two, note: 'ignored' }],
    });
    expect(first.json.result).toEqual({ accepted: 2, duplicates: 0, rejected: 0, errors: [] });
    const packed = await post(gzipSync(lines(two, three)), { ...LINES, 'content-encoding': 'gzip' });
    expect(packed.json.result).toEqual({ accepted: 1, duplicates: 1, rejected: 0, errors: [] });
    expect((await post(`\uFEFF\r\n${lines(one)}\r\n\n`)).json.result).toMatchObject({ accepted: 0, duplicates: 1 });
    for (const [text, headers] of [
      ['', LINES],
      ['[]', JSON_TYPE],
      [' [ ] ', JSON_TYPE],
    ] as const)
      expect((await post(text, headers)).json.result).toEqual({ accepted: 0, duplicates: 0, rejected: 0, errors: [] });
  });

  it('reports invalid events by index and field, and stores the valid ones', async () => {
    const inTwoHours = new Date(Date.now() + 2 * 3_600_000).toISOString();
    const invalid: [object | string, string, RegExp][] = [
      [event({ id: '' }), 'id', /empty/],
      [event({ id: 'x'.repeat(257) }), 'id', /at most 256/],
      [event({ id: 7 }), 'id', /string/],
      [event({ id: undefined }), 'id', /required/],
      [event({ id: 'a\u0000b' }), 'id', /NUL/],
      ['{"id":"\\ud800","source":"s"}', 'id', /surrogates/],
      [event({ source: null }), 'source', /string/],
      [event({ time: 'yesterday' }), 'time', /ISO 8601/],
      [event({ time: '2026-02-30T00:00:00Z' }), 'time', /ISO 8601/],
      [event({ time: 5 }), 'time', /ISO 8601/],
      [event({ time: inTwoHours }), 'time', /future/],
      [event({ time: '1999-12-31T23:59:59Z' }), 'time', /2000/],
      [event({ entityType: 'planet' }), 'entityType', /one of/],
      [event({ entityId: globex.primary }), 'entityId', /has no service/],
      [event({ entityId: '__proto__' }), 'entityId', /has no service/],
      [event({ meter: 'constructor' }), 'meter', /one of/],
      [event({ meter: 'storage' }), 'meter', /applies to datawarehouse/],
      [event({ quantity: -1 }), 'quantity', /0 or more/],
      [event({ quantity: 1e300 }), 'quantity', /decimal/],
      [event({ quantity: 1e18 }), 'quantity', /at most/],
      [event({ quantity: '1.0000001' }), 'quantity', /6 decimals/],
      [event({ quantity: 'NaN' }), 'quantity', /decimal/],
      [event({ quantity: 123456789.1234567 }), 'quantity', /6 decimals|as a string/],
      [event({ quantity: true }), 'quantity', /number/],
      ['{"id":', '', /not valid JSON/],
      ['[]', '', /object/],
      ['null', '', /object/],
      [`{"id":"${'x'.repeat(20_000)}"}`, '', /not valid JSON/],
      [`${'['.repeat(8000)}${']'.repeat(8000)}`, '', /object/],
    ];
    const texts = invalid.map(([one]) => (typeof one === 'string' ? one : JSON.stringify(one)));
    const valid = [
      event(),
      event({ id: 'tab\tline\nback\\slash "quoted" 😀' }),
      event({ entityId: acme.primary.toUpperCase() }),
    ];
    const { json } = await post([...texts, lines(...valid)].join('\n'));
    expect(json.result).toMatchObject({ accepted: valid.length, duplicates: 0, rejected: invalid.length });
    for (const [index, [, field, reason]] of invalid.entries())
      expect(json.result.errors[index]).toEqual({ index, field, reason: expect.stringMatching(reason) });
    expect((await post(lines(...valid))).json.result).toMatchObject({ accepted: 0, duplicates: valid.length });
    const array = await post(`[${lines(valid[0] as object)},{"id":},7]`, JSON_TYPE);
    expect(array.json.result).toMatchObject({ duplicates: 1, rejected: 2, errors: [{ index: 1 }, { index: 2 }] });
    const last = await post('{"id":"doubled","id":"doubled-again","source":"test"}');
    expect(last.json.result.errors).toMatchObject([{ index: 0, field: 'time' }]);
  });

  it('lists the first 100 errors and counts all', async () => {
    const { json } = await post(Array.from({ length: 250 }, () => '{}').join('\n'));
    expect(json.result).toMatchObject({ accepted: 0, rejected: 250 });
    expect(json.result.errors).toHaveLength(100);
  });

  it('rejects a line with invalid UTF-8, but an array with invalid UTF-8 as a whole', async () => {
    const good = Buffer.from(`${lines(event())}\n`);
    const bad = Buffer.from([0x7b, 0xff, 0xfe, 0x0a]);
    const { json } = await post(Buffer.concat([good, bad, Buffer.from(lines(event()))]));
    expect(json.result).toMatchObject({
      accepted: 2,
      rejected: 1,
      errors: [{ index: 1, reason: expect.stringMatching(/UTF-8/) }],
    });
    expectFailure(path, await post(Buffer.concat([Buffer.from('['), bad]), JSON_TYPE), 400);
  });

  it('rejects a truncated batch as a whole, and counts it when it is sent again', async () => {
    const events = Array.from({ length: 500 }, () => event());
    const whole = lines(...events);
    const packed = gzipSync(whole);
    const truncated = packed.subarray(0, packed.length - 100);
    expectFailure(path, await post(truncated, { ...LINES, 'content-encoding': 'gzip' }), 400);
    expectFailure(path, await post(`[${lines(...events.slice(0, 2)).replace('\n', ',')}`, JSON_TYPE), 400);
    for (const text of ['{}', '"x"', 'null', '[1] []', '[1,]x', '[,]', '[', '{"a":[]}'])
      expectFailure(path, await post(text, JSON_TYPE), 400);
    expect((await post(packed, { ...LINES, 'content-encoding': 'gzip' })).json.result.accepted).toBe(500);
    expect((await post(whole.slice(0, whole.length / 2))).json.result).toMatchObject({ accepted: 0, rejected: 1 });
  });

  it('rejects bodies that are too large, even if only after decompression, and other types and encodings', async () => {
    const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024, 32));
    expectFailure(path, await post(bomb, { ...LINES, 'content-encoding': 'gzip' }), 413);
    const connection = await openRawConnection(server.url);
    const basic = Buffer.from(`${acme.admin.keyId}:${acme.admin.keySecret}`).toString('base64');
    const head = [
      `POST ${path} HTTP/1.1`,
      'host: x',
      `authorization: Basic ${basic}`,
      'content-type: application/x-ndjson',
      `content-length: ${32 * 1024 * 1024 + 1}`,
    ];
    connection.send(`${head.join('\r\n')}\r\n\r\n`);
    expectFailure(path, await connection.response(), 413);
    connection.socket.destroy();
    expectFailure(path, await post('{}', { 'content-type': 'text/plain' }), 415);
    expectFailure(path, await post('{}', { ...LINES, 'content-encoding': 'br' }), 415);
    expectFailure(path, await post('not gzip', { ...LINES, 'content-encoding': 'gzip' }), 400);
  });

  it('requires an admin key of the organization', async () => {
    const sent = { method: 'POST', path, text: lines(event({ id: 'shared' })), headers: LINES };
    expectFailure(path, await server.call(sent), 401);
    expectFailure(path, await server.call({ ...sent, key: acme.developer }), 403);
    expectFailure(path, await server.call({ ...sent, key: globex.admin }), 404);
    expectFailure(path, await server.call({ ...sent, path: `${path}?x=1`, key: acme.admin }), 400);
    expect((await server.call({ ...sent, key: acme.admin })).json.result.accepted).toBe(1);
    // Ids are unique per organization.
    const own = { ...sent, path: path.replace(acme.id, globex.id), key: globex.admin };
    const text = lines(event({ id: 'shared', entityId: globex.primary }));
    expect((await server.call({ ...own, text })).json.result).toMatchObject({ accepted: 1, duplicates: 0 });
  });

  it('bills accepted usage once, within a minute', async () => {
    const compute = async () => {
      const query = `from_date=${DAY}&to_date=${DAY}`;
      const { json } = await server.call({
        path: `/v1/organizations/${acme.id}/usageCost?${query}`,
        key: acme.developer,
      });
      return json.result.costs.find((cost: { entityId: string }) => cost.entityId === entityId);
    };
    const billed = await until(compute, (cost) => cost !== undefined, 'the usage is not billed');
    expect(billed).toMatchObject({
      entityName: 'reader',
      locked: false,
      metrics: { computeCHC: 0.300988 },
      totalCHC: 0.300988,
    });
  });

  it('recognizes counted ids after a restart', async () => {
    const [one, two] = [event(), event()];
    expect((await post(lines(one))).json.result.accepted).toBe(1);
    await server.stop('SIGKILL');
    await server.restart();
    // The engine of the killed server may still hold its directory for a moment.
    const again = await until(
      () => post(lines(one, two)),
      ({ status }) => status === 200,
      'usage is not accepted after the restart',
    );
    expect(again.json.result).toMatchObject({ accepted: 1, duplicates: 1 });
  });
});
