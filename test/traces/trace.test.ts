import { describe, expect, it } from 'vitest';
import { createClient, type Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { byName, newTraceId, sendLogs, sendSpans, spanId, type TestSpan } from './support.ts';

const DAY_MS = 86_400_000;

/** Attributes of 200 kB each. */
const large = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, 'x'.repeat(200_000)]));

describe('GET /api/v2/traces/{traceId}', () => {
  const used = useIngest('libsql', { ingestRowsPerMinute: '10000000', ingestBytesPerMinute: '4GiB' });
  const call = createClient(() => ({ url: used.server.url, dashboardUrl: used.server.url }));
  const target = (authorization = used.acme) => ({ url: used.server.otlpUrl, authorization });
  const get = (id: string, query = '', token: string = acme.token) =>
    call({ path: `/api/v2/traces/${id}${query}`, token });
  const read = async (id: string): Promise<Json> => {
    const { status, json, text } = await get(id);
    expect(status, text.slice(0, 500)).toBe(200);
    return json.data;
  };

  it('returns all spans and logs of a trace that happened days ago', async () => {
    const id = newTraceId();
    const at = Date.now() - 9 * DAY_MS;
    await sendSpans(target(), id, at, [
      { id: 'root', name: 'GET /cart', kind: 'server', from: 0, to: 100 },
      {
        id: 'query',
        parent: 'root',
        kind: 'client',
        from: 10.000001,
        to: 40,
        isError: true,
        attributes: { 'db.system': 'postgresql' },
        more: {
          events: [{ timeUnixNano: `${at + 12}000005`, name: 'retry', attributes: [] }],
          links: [{ traceId: newTraceId(), spanId: spanId('other') }],
        },
      },
      { id: 'price', parent: 'root', service: 'prices', kind: 'server', from: 50, to: 90 },
    ]);
    await sendLogs(target(), id, at, [
      { at: 20, body: 'slow query', span: 'query' },
      { at: -5000, body: 'queued, without a span' },
      { at: 7_200_000, body: 'cleaned up two hours later', service: 'cleaner' },
    ]);
    const trace = await read(id.toUpperCase());
    expect(trace).toMatchObject({
      traceId: id,
      sourceId: 'traces',
      logSourceId: 'logs',
      start: new Date(at).toISOString().replace('Z', '000000Z'),
      end: new Date(at + 100).toISOString().replace('Z', '000000Z'),
      durationNs: 100e6,
      criticalNs: 100e6,
      totalSpans: 3,
      totalLogs: 3,
      truncated: false,
    });
    expect(trace.spans.map(({ name }: Json) => name)).toEqual(['GET /cart', 'query', 'price']);
    expect(trace.logs.map(({ body, offsetNs, spanId: span }: Json) => [body, offsetNs, span])).toEqual([
      ['queued, without a span', -5e9, ''],
      ['slow query', 20e6, spanId('query')],
      ['cleaned up two hours later', 7.2e12, ''],
    ]);
    expect(byName(trace.spans, 'query')).toMatchObject({
      spanId: spanId('query'),
      parentSpanId: spanId('root'),
      parentIndex: 0,
      start: `${at + 10}000001`,
      offsetNs: 10_000_001,
      durationNs: 29_999_999,
      status: 'Error',
      isError: true,
      attributes: { 'db.system': 'postgresql' },
      resourceAttributes: { 'service.name': 'web' },
      scope: { name: 'test', version: '1' },
      events: [{ time: `${at + 12}000005`, offsetNs: 12_000_005, name: 'retry', attributes: {} }],
      links: [{ spanId: spanId('other') }],
      isOrphan: false,
      isCritical: true,
      criticalNs: 29_999_999,
    });
    expect(byName(trace.spans, 'GET /cart')).toMatchObject({
      selfTimeNs: 30_000_001,
      criticalNs: 30_000_001,
      criticalSegments: [
        { startNs: 0, endNs: 10_000_001 },
        { startNs: 40e6, endNs: 50e6 },
        { startNs: 90e6, endNs: 100e6 },
      ],
    });
    expect(trace.services).toEqual([
      { name: 'web', spans: 2, errors: 1, selfTimeNs: 60e6 },
      { name: 'prices', spans: 1, errors: 0, selfTimeNs: 40e6 },
    ]);
  });

  it('marks orphans and clock skew, and hides neither', async () => {
    const id = newTraceId();
    await sendSpans(target(), id, Date.now(), [
      { id: 'root', from: 0, to: 100 },
      { id: 'early', parent: 'root', service: 'b', kind: 'server', from: -20, to: 50 },
      { id: 'within', parent: 'root', service: 'b', kind: 'server', from: -0.5, to: 100.5 },
      { id: 'late', parent: 'root', service: 'b', kind: 'server', from: 50, to: 300 },
      { id: 'message', parent: 'root', service: 'b', kind: 'consumer', from: 150, to: 300 },
      { id: 'same', parent: 'root', from: 50, to: 300 },
      { id: 'orphan', parent: 'lost', from: 10, to: 20 },
    ]);
    const { spans } = await read(id);
    const marks = Object.fromEntries(
      spans.map(({ name, isOrphan, hasClockSkew }: Json) => [name, [isOrphan, hasClockSkew]]),
    );
    expect(marks).toEqual({
      root: [false, false],
      early: [false, true],
      within: [false, false],
      late: [false, true],
      message: [false, false],
      same: [false, false],
      orphan: [true, false],
    });
    expect(byName(spans, 'early').offsetNs).toBe(0);
    expect(byName(spans, 'root').offsetNs).toBe(20e6);
  });

  it('cycles, spans that are their own parent and ids that occur twice are returned', async () => {
    const id = newTraceId();
    await sendSpans(target(), id, Date.now(), [
      { id: 'a', parent: 'c', from: 0, to: 10 },
      { id: 'b', parent: 'a', from: 1, to: 9 },
      { id: 'c', parent: 'b', from: 2, to: 8 },
      { id: 'self', parent: 'self', from: 3, to: 4 },
      { id: 'twice', name: 'first', parent: 'b', from: 4, to: 6 },
      { id: 'twice', name: 'second', parent: 'twice', from: 5, to: 7 },
    ]);
    const { spans, totalSpans } = await read(id);
    expect(totalSpans).toBe(6);
    expect(spans.map(({ name, parentIndex, isOrphan }: Json) => [name, parentIndex, isOrphan])).toEqual([
      ['a', undefined, true],
      ['b', 0, false],
      ['c', 1, false],
      ['self', undefined, true],
      ['first', 1, false],
      ['second', 4, false],
    ]);
  });

  it('a trace of logs only is found, as soon as it is stored', async () => {
    const id = newTraceId();
    expect((await get(id)).status).toBe(404);
    await sendLogs(target(), id, Date.now(), [
      { at: 0, body: 'alone' },
      { at: 3, body: 'later' },
    ]);
    const trace = await read(id);
    expect([trace.spans, trace.logs.length, trace.durationNs, trace.totalSpans]).toEqual([[], 2, 3e6, 0]);
  });

  it('of 20,000 spans, the earliest 10,000 are returned', async () => {
    const id = newTraceId();
    const at = Date.now();
    const spans = Array.from(
      { length: 20_000 },
      (_, index): TestSpan => ({
        id: index.toString(36),
        ...(index > 0 && { parent: (index - 1).toString(36) }),
        from: index,
        to: 20_000,
        attributes: { 'http.route': `/items/${index}`, 'user.id': String(index) },
      }),
    );
    for (let start = 0; start < spans.length; start += 5000)
      await sendSpans(target(), id, at, spans.slice(start, start + 5000));
    await sendLogs(
      target(),
      id,
      at,
      Array.from({ length: 10_001 }, (_, index) => ({ at: index, body: `line ${index}` })),
    );
    const trace = await read(id);
    expect([trace.totalSpans, trace.spans.length, trace.totalLogs, trace.logs.length, trace.truncated]).toEqual([
      20_000,
      10_000,
      10_001,
      10_000,
      true,
    ]);
    expect(trace.spans.map(({ offsetNs }: Json) => offsetNs / 1e6)).toEqual(
      spans.slice(0, 10_000).map(({ from }) => from),
    );
    expect(trace.spans.every(({ isCritical, isOrphan }: Json) => isCritical && !isOrphan)).toBe(true);
  });

  it('rows that differ in their attributes only are each returned once', async () => {
    const id = newTraceId();
    const Timestamp = new Date(Date.now() - DAY_MS).toISOString();
    for (let part = 0; part < 5; part++) {
      const logs = Array.from({ length: 500 }, (_, index) => ({
        OrganizationId: acme.id,
        Timestamp,
        TraceId: id,
        Body: 'retry',
        LogAttributes: { attempt: String(part * 500 + index) },
      }));
      await used.server.engine.insert('otel_logs', logs);
    }
    const { logs } = await read(id);
    expect(logs).toHaveLength(2500);
    expect(new Set(logs.map(({ attributes }: Json) => attributes.attempt)).size).toBe(2500);
  });

  it('large spans are returned up to 20 MiB', async () => {
    const id = newTraceId();
    const spans = Array.from(
      { length: 45 },
      (_, index): TestSpan => ({
        id: index.toString(36),
        from: index,
        to: 100,
        attributes: large(3),
      }),
    );
    await sendSpans(target(), id, Date.now(), spans);
    const trace = await read(id);
    expect([trace.totalSpans, trace.truncated]).toEqual([45, true]);
    expect(trace.spans.length * 600_000).toBeGreaterThan(20 * 2 ** 20 - 600_000);
    expect(trace.spans.length * 600_000).toBeLessThan(23 * 2 ** 20);
    expect(trace.spans.map(({ offsetNs }: Json) => offsetNs / 1e6)).toEqual(
      trace.spans.map((_: Json, at: number) => at),
    );
  });

  it.each([
    'x',
    '5b8efff798038103d269b633813fc60',
    `${'0'.repeat(32)}0`,
    'zz8efff798038103d269b633813fc60c',
    "'%20OR%201",
  ])('the id %s is rejected with the rule', async (id) => {
    const { status, json } = await get(id);
    const rule = 'A trace id must have 32 hexadecimal digits, such as 5b8efff798038103d269b633813fc60c';
    expect([status, json]).toEqual([400, { message: rule, errors: [{ path: 'traceId', message: rule }] }]);
  });

  it('unknown ids and those of another organization are not found', async () => {
    const id = newTraceId();
    await sendSpans(target(), id, Date.now(), [{ id: 'a', from: 0, to: 1 }]);
    await sendLogs(target(), id, Date.now(), [{ at: 0, body: 'ours' }]);
    expect((await get(id)).status).toBe(200);
    const theirs = await get(id, '', globex.token);
    expect([theirs.status, theirs.json.message]).toEqual([
      404,
      `No span of the source traces and no log of the source logs has the trace id ${id}`,
    ]);
    expect((await get('f'.repeat(32))).status).toBe(404);
  });

  it('needs a token that may read, and sources of the right kind', async () => {
    const id = newTraceId();
    expect((await get(id, '', used.acme)).status).toBe(403);
    expect((await call({ path: `/api/v2/traces/${id}` })).status).toBe(401);
    for (const [query, message] of [
      ['?sourceId=none', 'sourceId: Unknown source none'],
      ['?sourceId=logs', 'sourceId: The source logs must be of kind trace, not log'],
      ['?sourceId=metrics', 'sourceId: The source metrics must be of kind trace, not metric'],
      ['?logSourceId=traces', 'logSourceId: The source traces must be of kind log, not trace'],
    ]) {
      const { status, json } = await get(id, query);
      expect([status, json.message], query).toEqual([400, expect.stringContaining(message as string)]);
    }
    expect((await get(id, '?limit=1')).status).toBe(400);
  });
});
