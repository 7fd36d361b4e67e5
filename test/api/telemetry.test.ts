import { beforeAll, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { createIngestToken, postOtlp, sendGauge, sendLogs } from '../support/otlp-json.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const DAY_MS = 86_400_000;
/** Starts the engine. */
const ENGINE_TIMEOUT_MS = 120_000;

onEachStore('received telemetry', (store) => {
  const server = useServer(store);
  let token: { id: string; token: string };
  let other: { id: string; token: string };
  const yesterday = Date.now() - DAY_MS;

  const get = (path: string, organization: typeof acme | typeof globex = acme) =>
    server.call({ path: `/v1/organizations/${organization.id}/telemetry${path}`, key: organization.admin });
  const getResult = async (path: string, organization: typeof acme | typeof globex = acme): Promise<Json> => {
    const { status, json, text } = await get(path, organization);
    expect(status, text).toBe(200);
    return json.result;
  };
  const sum = (rows: Json[], member: string): number => rows.reduce((total, row) => total + row[member], 0);

  beforeAll(async () => {
    token = await createIngestToken(server, acme, 'checkout');
    other = await createIngestToken(server, globex);
    await sendLogs(server, token.token, 'checkout', [
      { body: 'first', at: yesterday, attributes: { 'order.note': 'x'.repeat(500) } },
      { body: 'second', attributes: { 'order.id': '7' } },
      { body: 'too old', at: Date.now() - 400 * DAY_MS },
    ]);
    await sendGauge(server, token.token, 'worker', [1, 2, 3, 4]);
    await sendLogs(server, other.token, 'secret of globex', [{ body: 'one' }]);
    expect((await postOtlp(server, token.token, 'logs', { resourceLogs: 7 })).status).toBe(400);
    await until(
      () => getResult('').then(({ senders, rejections }) => [senders.length, rejections.length]),
      ([senders, rejections]) => senders === 3 && rejections === 2,
      'the counts are not stored',
    );
  }, ENGINE_TIMEOUT_MS);

  it('counts accepted and rejected records by token, service and signal, and over time', async () => {
    const { senders, senderCount, buckets, bucketSeconds } = await getResult('');
    expect(senders).toEqual([
      expect.objectContaining({ serviceName: 'worker', signal: 'metrics', acceptedRecords: 4, rejectedRecords: 0 }),
      expect.objectContaining({ serviceName: 'checkout', signal: 'logs', acceptedRecords: 2, rejectedRecords: 1 }),
      expect.objectContaining({ serviceName: '', signal: 'logs', acceptedRecords: 0, rejectedRecords: 0 }),
    ]);
    expect(senders.map(({ tokenId }: Json) => tokenId)).toEqual([token.id, token.id, token.id]);
    expect(senders[1].acceptedBytes).toBeGreaterThan(500);
    expect(senders[1].rejectedBytes).toBeGreaterThan(0);
    expect(senderCount).toBe(3);
    expect(bucketSeconds).toBe(60);
    for (const member of ['acceptedRecords', 'acceptedBytes', 'rejectedRecords', 'rejectedBytes'])
      expect([member, sum(buckets, member)]).toEqual([member, sum(senders, member)]);
  });

  it('narrows them to a token, a service or a signal', async () => {
    const services = async (query: string) =>
      (await getResult(query)).senders.map(({ serviceName }: Json) => serviceName);
    expect(await services('?serviceName=checkout')).toEqual(['checkout']);
    expect(await services('?signal=metrics')).toEqual(['worker']);
    expect(await services(`?tokenId=${token.id.toUpperCase()}&signal=logs`)).toEqual(['checkout', '']);
    expect(await services(`?tokenId=${other.id}`)).toEqual([]);
    expect(
      await services(`?from=${new Date(yesterday - DAY_MS).toISOString()}&to=${new Date(yesterday).toISOString()}`),
    ).toEqual([]);
  });

  it('gives the reasons of rejected records with a sample, and of requests that were refused', async () => {
    const { rejections } = await getResult('');
    expect(rejections).toEqual([
      expect.objectContaining({
        serviceName: 'checkout',
        signal: 'logs',
        tokenId: token.id,
        reason: 'its time is before the retention of this signal',
        records: 1,
        sample: 'log record with the body "too old"',
      }),
      expect.objectContaining({
        serviceName: '',
        records: 0,
        reason: expect.stringMatching(/^The request is not valid OTLP/),
        sample: '',
      }),
    ]);
  });

  it('gives the rows, the size and the oldest row that exists, by signal', async () => {
    const { signals } = await getResult('/storage');
    const [logs, traces, metrics] = signals;
    expect(signals.map(({ signal, rows }: Json) => [signal, rows])).toEqual([
      ['logs', 2],
      ['traces', 0],
      ['metrics', 4],
    ]);
    expect(Date.parse(logs.oldestAt)).toBe(yesterday);
    expect(traces).toEqual({ signal: 'traces', rows: 0, bytesOnDisk: 0, oldestAt: null });
    expect(logs.bytesOnDisk).toBeGreaterThan(0);
    expect(metrics.bytesOnDisk).toBeGreaterThan(0);
  });

  it('gives the attribute keys that take the most space', async () => {
    const { attributeKeys } = await getResult('/storage');
    expect(attributeKeys[0]).toMatchObject({ signal: 'logs', place: 'record', key: 'order.note', bytes: 510 });
    expect(attributeKeys[0].share).toBeGreaterThan(0.3);
    expect(attributeKeys[0].share).toBeLessThan(1);
    expect(attributeKeys.map(({ place, key, bytes }: Json) => [place, key, bytes])).toContainEqual([
      'record',
      'order.id',
      9,
    ]);
    expect(attributeKeys.filter(({ signal }: Json) => signal === 'metrics')).toEqual([
      expect.objectContaining({ place: 'resource', key: 'service.name', bytes: 4 * 'service.nameworker'.length }),
    ]);
  });

  it('shows an organization nothing of another one', async () => {
    const { senders, rejections } = await getResult('', globex);
    expect(senders.map(({ serviceName, tokenId }: Json) => [serviceName, tokenId])).toEqual([
      ['secret of globex', other.id],
    ]);
    expect(rejections).toEqual([]);
    const storage = await getResult('/storage', globex);
    expect(sum(storage.signals, 'rows')).toBe(1);
    expect(storage.attributeKeys.map(({ key }: Json) => key)).toEqual(['service.name']);
    const texts = await Promise.all(['', '/storage'].map(async (path) => (await get(path)).text));
    expect(texts.join()).not.toContain('globex');
    for (const path of ['', '/storage']) {
      const url = `/v1/organizations/${acme.id}/telemetry${path}`;
      expect((await server.call({ path: url, key: globex.admin })).status).toBe(404);
      expect((await server.call({ path: url, key: acme.developer })).status).toBe(200);
      expect((await server.call({ path: url, key: acme.query })).status).toBe(403);
      expect((await server.call({ path: url, token: token.token })).status).toBe(401);
    }
  });

  it.each([
    ['?from=yesterday', 'from'],
    ['?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'The value must be before to'],
    ['?from=2026-01-01T00:00:00Z&to=2026-04-02T00:00:00Z', 'at most 90 days'],
    ['?signal=profiles', 'signal'],
    ['?tokenId=7', 'tokenId'],
    [`?serviceName=${'x'.repeat(201)}`, 'serviceName'],
    ['?limit=7', 'limit'],
    ['/storage?signal=logs', 'signal'],
  ])('rejects %s', async (query, message) => {
    const { status, json } = await get(query);
    expect([status, json.error]).toEqual([400, expect.stringContaining(message)]);
  });

  it('answers for every time that a date-time can have', async () => {
    for (const [from, to] of [
      ['0000-01-01T00:00:00Z', '0000-01-02T00:00:00Z'],
      ['9999-12-30T00:00:00Z', '9999-12-31T00:00:00Z'],
    ])
      expect((await getResult(`?from=${from}&to=${to}`)).senders).toEqual([]);
  });
});
