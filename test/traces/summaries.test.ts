import { describe, expect, it } from 'vitest';
import { createClient, type Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { newTraceId, post, sendSpans, type TestSpan } from './support.ts';

const HOUR_MS = 3_600_000;
const MS = 1e6;

describe('traces over a range', () => {
  const used = useIngest('libsql', { ingestRowsPerMinute: '10000000', ingestBytesPerMinute: '4GiB' });
  const call = createClient(() => ({ url: used.server.url, dashboardUrl: used.server.url }));
  const target = (authorization = used.acme) => ({ url: used.server.otlpUrl, authorization });
  let hours = 0;
  /** Each test has an hour of its own. */
  const nextHour = () => {
    const at = (Math.floor(Date.now() / HOUR_MS) - 48 + hours++) * HOUR_MS;
    return { at: at + 60_000, range: { start: at, end: at + HOUR_MS } };
  };
  const query = async (path: string, body: object, token: string = acme.token): Promise<Json> => {
    const { status, json, text } = await post(call, token, path, body);
    expect(status, text.slice(0, 500)).toBe(200);
    return json.data;
  };

  it('operations are ordered by the time in which no child ran', async () => {
    const { at, range } = nextHour();
    for (const shift of [0, 1000])
      await sendSpans(target(), newTraceId(), at + shift, [
        { id: 'root', name: 'GET /cart', kind: 'server', from: 0, to: 100 },
        // Two children at the same time are subtracted once, and only where they overlap the parent.
        { id: 'a', parent: 'root', name: 'query', from: 10, to: 40, isError: shift > 0 },
        { id: 'b', parent: 'root', name: 'query', from: 30, to: 60 },
        { id: 'c', parent: 'root', service: 'mail', name: 'send', from: 90, to: 140 },
      ]);
    const data = await query('operations', range);
    expect(data).toMatchObject({ ...range, sampling: { sampled: false, oneIn: 1, totalSpans: 8 }, totalOperations: 3 });
    expect(
      data.operations.map(({ service, name, count, errors, totalNs, selfTimeNs }: Json) => [
        service,
        name,
        count,
        errors,
        totalNs / MS,
        selfTimeNs / MS,
      ]),
    ).toEqual([
      ['web', 'query', 4, 1, 120, 120],
      ['mail', 'send', 2, 0, 100, 100],
      ['web', 'GET /cart', 2, 0, 200, 80],
    ]);
    expect(data.operations[2]).toMatchObject({ p50Ns: 100 * MS, p95Ns: 100 * MS });
    const where = { where: 'ServiceName:web', filters: ["SpanKind = 'Server'"], limit: 1 };
    const { operations, totalOperations } = await query('operations', { ...range, ...where });
    expect([operations.length, operations[0].name, operations[0].selfTimeNs / MS, totalOperations]).toEqual([
      1,
      'GET /cart',
      80,
      1,
    ]);
    expect((await query('operations', range, globex.token)).operations).toEqual([]);
  });

  it('a search returns the traces of matching spans, newest or slowest first', async () => {
    const { at, range } = nextHour();
    const ids = [newTraceId(), newTraceId(), newTraceId()];
    const spans = (length: number): TestSpan[] => [
      { id: 'root', name: `GET /${length}`, kind: 'server', from: 0, to: 200 },
      { id: 'db', parent: 'root', service: 'db', name: 'query', from: 5, to: 5 + length, isError: length > 50 },
    ];
    await sendSpans(target(), ids[0] as string, at, spans(30));
    await sendSpans(target(), ids[1] as string, at + 1000, spans(90));
    await sendSpans(target(), ids[2] as string, at + 2000, spans(60).slice(1));
    const list = async (body: object) => {
      const { traces, truncated } = await query('search', { ...range, ...body });
      return [traces.map(({ traceId }: Json) => ids.indexOf(traceId)), truncated];
    };
    expect(await list({})).toEqual([[2, 1, 0], false]);
    expect(await list({ orderBy: 'slowest', where: 'ServiceName:db' })).toEqual([[1, 2, 0], false]);
    expect(await list({ limit: 1 })).toEqual([[2], true]);
    expect(await list({ minDurationNs: 60 * MS, maxDurationNs: 90 * MS })).toEqual([[2, 1], false]);
    expect(await list({ start: at + 500 })).toEqual([[2, 1], false]);
    expect(await list({ where: 'SpanName:none' })).toEqual([[], false]);
    const { traces } = await query('search', { ...range, where: 'StatusCode:Error' });
    expect(traces).toEqual([
      expect.objectContaining({ traceId: ids[2], service: 'db', name: 'query', hasRoot: false, spans: 1, errors: 1 }),
      {
        traceId: ids[1],
        service: 'web',
        name: 'GET /90',
        hasRoot: true,
        start: new Date(at + 1000).toISOString().replace('Z', '000000Z'),
        durationNs: 200 * MS,
        spans: 2,
        errors: 1,
        services: ['db', 'web'],
        matchedSpans: 1,
        matchedDurationNs: 90 * MS,
      },
    ]);
    expect((await query('search', range, globex.token)).traces).toEqual([]);
  });

  it('a heatmap tile shows the durations whose traces a search selects', async () => {
    const { at, range } = nextHour();
    for (const length of [1, 2, 4, 300])
      await sendSpans(target(), newTraceId(), at, [{ id: 'a', from: 0, to: length }]);
    const series = [{ type: 'heatmap', sourceId: 'traces', field: 'Duration', where: '', groupBy: [] }];
    const tile = await call({
      method: 'POST',
      path: '/api/v2/charts/tile',
      token: acme.token,
      body: { series, ...range, granularity: '1h' },
    });
    expect(tile.json.data, tile.text.slice(0, 500)).toMatchObject({
      type: 'heatmap',
      mode: 'distribution',
      unit: 'ns',
    });
    const rows: Json[] = tile.json.data.rows;
    expect(rows.reduce((sum, { values }) => sum + values[0], 0)).toBe(4);
    const slowest = rows.at(-1) as Json;
    const found = await query('search', {
      ...range,
      minDurationNs: Math.floor(slowest.from),
      maxDurationNs: Math.ceil(slowest.to),
    });
    expect(found.traces.map(({ durationNs }: Json) => durationNs)).toEqual([300 * MS]);
  });

  it('the service map has services, databases, queues and addresses', async () => {
    const { at, range } = nextHour();
    for (let index = 0; index < 4; index++)
      await sendSpans(target(), newTraceId(), at + index, [
        { id: 'page', service: 'web', kind: 'server', from: 0, to: 100 },
        {
          id: 'call',
          parent: 'page',
          service: 'web',
          kind: 'client',
          from: 1,
          to: 60,
          attributes: { 'server.address': 'cart' },
        },
        { id: 'cart', parent: 'call', service: 'cart', kind: 'server', from: 2, to: 50, isError: index === 0 },
        {
          id: 'sql',
          parent: 'cart',
          service: 'cart',
          kind: 'client',
          from: 10,
          to: 20,
          attributes: { 'db.system.name': 'postgresql', 'db.namespace': 'orders', 'server.address': '10.0.0.1' },
        },
        {
          id: 'sent',
          parent: 'cart',
          service: 'cart',
          kind: 'producer',
          from: 30,
          to: 31,
          attributes: { 'messaging.system': 'kafka', 'messaging.destination.name': 'paid' },
        },
        {
          id: 'pay',
          parent: 'cart',
          service: 'cart',
          kind: 'client',
          from: 32,
          to: 40,
          attributes: { 'peer.service': 'bank' },
        },
        { id: 'odd', parent: 'cart', service: 'cart', kind: 'client', from: 41, to: 42 },
      ]);
    await sendSpans(target(), newTraceId(), at, [
      {
        id: 'taken',
        service: 'mail',
        kind: 'consumer',
        from: 500,
        to: 600,
        attributes: { 'messaging.system': 'kafka', 'messaging.destination.name': 'paid' },
      },
    ]);
    const map = await query('service-map', range);
    expect(
      map.nodes.map(({ id, kind, name, requests, errors }: Json) => [id, kind, name, requests, errors]).sort(),
    ).toEqual([
      ['database:postgresql:orders', 'database', 'orders', 4, 0],
      ['external:bank', 'external', 'bank', 4, 0],
      ['queue:kafka:paid', 'queue', 'paid', 5, 0],
      ['service:cart', 'service', 'cart', 4, 1],
      ['service:mail', 'service', 'mail', 1, 0],
      ['service:web', 'service', 'web', 4, 0],
    ]);
    expect(
      map.edges.map(({ from, to, requests, errors, p95Ns }: Json) => [from, to, requests, errors, p95Ns / MS]).sort(),
    ).toEqual([
      ['queue:kafka:paid', 'service:mail', 1, 0, 100],
      ['service:cart', 'database:postgresql:orders', 4, 0, 10],
      ['service:cart', 'external:bank', 4, 0, 8],
      ['service:cart', 'queue:kafka:paid', 4, 0, 1],
      ['service:web', 'service:cart', 4, 1, 48],
    ]);
    expect(map).toMatchObject({ sampling: { sampled: false, oneIn: 1, totalSpans: 29 }, truncated: false });
    const { edges } = await query('service-map', { ...range, where: 'ServiceName:web' });
    expect(edges).toEqual([]);
    expect(await query('service-map', range, globex.token)).toMatchObject({ nodes: [], edges: [] });
  });

  it.each(['operations', 'search', 'service-map'])('%s: invalid requests name the member', async (path) => {
    for (const [body, message] of [
      [{ where: 'nosuch:1' }, 'where: '],
      [{ where: 'Nosuch = 1', whereLanguage: 'sql' }, 'where: Unknown column "Nosuch"'],
      [{ filters: ['1; DROP TABLE x'] }, 'filters[0]: '],
      [{ start: 'yesterday' }, 'start'],
      [{ start: 1_700_000_000_001, end: 1_700_000_000_000 }, 'start'],
      [{ sourceId: 'logs' }, 'sourceId: The source logs must be of kind trace'],
      [{ sourceId: 'nosuch' }, 'sourceId: Unknown source nosuch'],
      [{ unknown: 1 }, 'unknown'],
      [{ limit: 100_000 }, 'limit'],
    ] as const) {
      const { status, json } = await post(call, acme.token, path, body);
      expect([status, JSON.stringify(json)], JSON.stringify(body)).toEqual([
        400,
        expect.stringContaining(message.replaceAll('"', '\\"')),
      ]);
    }
    expect((await post(call, used.acme, path, {})).status).toBe(403);
    expect((await post(call, '', path, {})).status).toBe(401);
  });
});
