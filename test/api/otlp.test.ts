import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { SIGNALS, type Signal } from '../../src/observability/ingest/wire/otlp-messages.ts';
import { createClient, type Json } from '../support/client.ts';
import { countRows, readRows } from '../support/engine-rows.ts';
import { acme, globex } from '../support/fleet.ts';
import { openInProcessServer } from '../support/in-process-server.ts';
import { createIngestToken, useIngest } from '../support/ingest.ts';
import { JSON_TYPE, PROTOBUF, send, sendBytes, type Target } from '../support/otlp-client.ts';
import { encodeRequest } from '../support/otlp-encoding.ts';
import { exportMessage, startCall } from '../support/otlp-grpc.ts';
import { createFullRequest, logRecord, span, toRequest } from '../support/otlp-requests.ts';
import { openRawConnection } from '../support/raw.ts';
import { onEachStore } from '../support/server.ts';
import { postSession } from '../support/sessions.ts';
import { until } from '../support/until.ts';

const MIB = 2 ** 20;
/** Of an organization and a signal, per minute. */
const MAX_ROWS = 1000;
const limits = { ingestRowsPerMinute: String(MAX_ROWS), ingestBytesPerMinute: '1MiB' };

const log = (service: string, more: object = {}) => toRequest('logs', [logRecord(Date.now(), more)], service);
const ofService = (service: string) => `ServiceName = '${service}'`;

onEachStore('tokens for telemetry', (store) => {
  const used = useIngest(store, limits);
  const call = createClient(() => ({ url: used.server.url, dashboardUrl: used.server.url }));
  const sendAs = (authorization: string | undefined, service: string) =>
    send(
      { url: `${used.server.url}/otlp`, ...(authorization !== undefined && { authorization }) },
      'logs',
      log(service),
    );
  const tokensPath = `/v1/organizations/${acme.id}/dashboardTokens`;

  it('are accepted with Bearer and alone, and their rows belong to their organization only', async () => {
    for (const authorization of [`Bearer ${used.acme}`, `bearer ${used.acme}`, used.acme])
      expect((await sendAs(authorization, 'ours')).status).toBe(200);
    expect((await sendAs(used.globex, 'theirs')).status).toBe(200);
    const { engine } = used.server;
    const count = (id: string, service: string) => countRows(engine, 'otel_logs', id, ofService(service));
    expect([await count(acme.id, 'ours'), await count(acme.id, 'theirs')]).toEqual([3, 0]);
    expect([await count(globex.id, 'ours'), await count(globex.id, 'theirs')]).toEqual([0, 1]);
    const body = {
      startTime: Date.now() - 60_000,
      endTime: Date.now() + 60_000,
      series: [{ sourceId: 'logs', aggFn: 'count', where: '', groupBy: ['ServiceName'] }],
    };
    for (const [token, services] of [
      [acme.token, ['ours']],
      [globex.token, ['theirs']],
    ] as const) {
      const { status, json } = await call({ method: 'POST', path: '/api/v2/charts/series', token, body });
      expect([status, [...new Set(json.data?.map(({ group }: Json) => group[0]))]]).toEqual([200, services]);
    }
  });

  it.each([
    ['no token', () => undefined, 401, 16],
    ['an unknown token', () => `Bearer ${used.acme}x`, 401, 16],
    ['an API key', () => `Basic ${Buffer.from('a:b').toString('base64')}`, 401, 16],
    ['a read-only token', () => `Bearer ${acme.token}`, 403, 7],
    ['a read-write token', () => acme.writer, 403, 7],
  ])('%s is rejected', async (_, authorization, status, code) => {
    const response = await sendAs(authorization(), 'rejected');
    expect([response.status, response.json.code]).toEqual([status, code]);
    expect(response.headers.get('content-type')).toBe(PROTOBUF);
    if (status === 403) expect(response.json.message).toContain('access ingest');
    else expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /);
    expect(await countRows(used.server.engine, 'otel_logs', acme.id, ofService('rejected'))).toBe(0);
  });

  it('write telemetry and nothing else', async () => {
    const token = used.acme;
    for (const path of ['/api/v2/dashboards', '/api/v2/sources'])
      expect((await call({ path, token })).status, path).toBe(403);
    expect((await call({ method: 'POST', path: '/api/v2/dashboards', token, body: { name: 'x' } })).status).toBe(403);
    expect((await call({ path: `/v1/organizations/${acme.id}`, token })).status).toBe(401);
    const signIn = await postSession({ call }, { token });
    expect([signIn.status, signIn.headers.get('set-cookie'), signIn.text]).toEqual([
      401,
      null,
      expect.stringContaining('This token can only send telemetry'),
    ]);
  });

  it('stop working when their access changes and when they are deleted', async () => {
    const created = await call({ method: 'POST', path: tokensPath, key: acme.admin, body: { access: 'ingest' } });
    const { token, dashboardToken } = created.json.result;
    expect(dashboardToken.access).toBe('ingest');
    expect((await sendAs(token, 'changed')).status).toBe(200);
    const path = `${tokensPath}/${dashboardToken.id}`;
    await call({ method: 'PATCH', path, key: acme.admin, body: { access: 'write' } });
    expect((await sendAs(token, 'changed')).status).toBe(403);
    await call({ method: 'PATCH', path, key: acme.admin, body: { access: 'ingest' } });
    expect((await sendAs(token, 'changed')).status).toBe(200);
    expect((await call({ method: 'DELETE', path, key: acme.admin })).status).toBe(200);
    expect((await sendAs(token, 'changed')).status).toBe(401);
  });

  it('share a limit of bytes per minute', async () => {
    const target: Target = { url: used.server.otlpUrl, authorization: used.acme };
    const large = span(Date.now(), { name: 'x'.repeat(200_000) });
    expect((await send(target, 'traces', toRequest('traces', Array(10).fill(large)))).status).toBe(200);
    const other = { ...target, authorization: await createIngestToken(used.server.url, acme) };
    const { status, json } = await send(other, 'traces', toRequest('traces', [span(Date.now())]), 'json');
    expect([status, json.code, json.message]).toEqual([429, 8, expect.stringContaining('bytes of traces per minute')]);
  });

  it('stored bytes are usage of the organization, without cost', async () => {
    const { domains, engine } = used.server;
    expect((await sendAs(used.globex, 'metered')).status).toBe(200);
    const range = { from: Date.now() - 86_400_000 };
    const readBytes = async () => {
      const { buckets } = await domains.telemetryReports.getReport(globex.id, range);
      return buckets.reduce((sum, { acceptedBytes }) => sum + acceptedBytes, 0);
    };
    const readMetered = async () => {
      const [[metered] = []] = await engine.query({
        sql: "SELECT toUInt64(sum(Quantity)) FROM pilothouse.usage_events FINAL WHERE OrganizationId = {id:String} AND Meter = 'telemetryLogs'",
        parameters: { id: globex.id },
      });
      return Number(metered);
    };
    await until(
      async () => {
        await domains.telemetryMetering.flush();
        return [await readMetered(), await readBytes()] as const;
      },
      ([metered, bytes]) => bytes > 0 && metered === bytes,
      'the stored bytes are not metered',
    );
    await domains.rating.rateChanged();
    const days = [range.from, Date.now()].map((ms) => new Date(ms).toISOString().slice(0, 10));
    const path = `/v1/organizations/${globex.id}/usageCost?from_date=${days[0]}&to_date=${days[1]}`;
    const { json } = await call({ path, key: globex.admin });
    expect(json.result.costs).toContainEqual(
      expect.objectContaining({ entityName: 'Telemetry', entityType: 'clickpipe', totalCHC: 0 }),
    );
  });
});

describe('OTLP/HTTP and OTLP/gRPC', () => {
  const used = useIngest('libsql', limits);
  const at = (prefix: string): Target => ({ url: used.server.url + prefix, authorization: used.acme });

  it.each(SIGNALS)('%s: every path and format answers in the format of the request', async (signal) => {
    const request = createFullRequest(signal, Date.now());
    const targets = [
      at(''),
      at('/otlp'),
      { ...at(''), url: used.server.otlpUrl },
      { ...at(''), url: `${used.server.otlpUrl}/otlp` },
    ];
    for (const target of targets) {
      const protobuf = await send(target, signal, request);
      expect([protobuf.status, protobuf.headers.get('content-type'), protobuf.bytes.length]).toEqual([
        200,
        PROTOBUF,
        0,
      ]);
      const json = await send(target, signal, request, 'json');
      expect([json.status, json.headers.get('content-type'), json.bytes.toString()]).toEqual([200, JSON_TYPE, '{}']);
    }
  });

  it.each<[string, () => string]>([
    ['/', () => used.server.url],
    ['/otlp', () => used.server.url],
    ['/otlp/logs', () => used.server.url],
    ['/otlp/v1/log', () => used.server.url],
    ['/', () => used.server.otlpUrl],
    ['/v1/events', () => used.server.otlpUrl],
    ['/logs?x=1', () => used.server.otlpUrl],
  ])('a POST to %s names the right path', async (path, getUrl) => {
    const response = await fetch(getUrl() + path, {
      method: 'POST',
      headers: { 'content-type': JSON_TYPE, authorization: used.acme },
      body: '{}',
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([404, JSON_TYPE]);
    expect(await response.json()).toEqual({
      code: 12,
      message: `${path} does not accept telemetry; send it to /otlp/v1/logs, /otlp/v1/traces, /otlp/v1/metrics`,
    });
  });

  it('other methods and types are rejected', async () => {
    const get = await fetch(`${used.server.otlpUrl}/v1/logs`, { headers: { authorization: used.acme } });
    expect([404, 405]).toContain(get.status);
    for (const [headers, text] of [
      [{ 'content-type': 'text/plain' }, 'application/x-protobuf or application/json'],
      [{ 'content-type': PROTOBUF, 'content-encoding': 'br' }, 'content-encoding must be gzip'],
      [{ 'content-type': PROTOBUF, 'content-encoding': 'gzip, gzip' }, 'content-encoding must be gzip'],
    ] as const) {
      const { status, json } = await sendBytes(at('/otlp'), 'logs', encodeRequest('logs', log('x')), headers);
      expect([status, json]).toEqual([415, { code: 3, message: expect.stringContaining(text) }]);
    }
  });

  it.each(['protobuf', 'json'] as const)('%s: gzip and deflate are accepted, damaged data is not', async (format) => {
    const type = format === 'json' ? `${JSON_TYPE}; charset=utf-8` : PROTOBUF;
    const bytes = format === 'json' ? Buffer.from(JSON.stringify(log(format))) : encodeRequest('logs', log(format));
    const sendAs = (body: Buffer, encoding: string) =>
      sendBytes(at('/otlp'), 'logs', body, { 'content-type': type, 'content-encoding': encoding });
    expect((await sendAs(gzipSync(bytes), 'gzip')).status).toBe(200);
    expect((await sendAs(gzipSync(bytes), 'GZIP')).status).toBe(200);
    expect((await sendAs(deflateSync(bytes), 'deflate')).status).toBe(200);
    expect((await sendAs(bytes, 'identity')).status).toBe(200);
    expect(await countRows(used.server.engine, 'otel_logs', acme.id, ofService(format))).toBe(4);
    for (const [body, encoding] of [
      [bytes, 'gzip'],
      [gzipSync(bytes), 'deflate'],
      [gzipSync(bytes).subarray(0, 40), 'gzip'],
      [gzipSync(bytes), 'identity'],
      [Buffer.from('{"resourceLogs":'), 'identity'],
    ] as const) {
      const { status, json } = await sendAs(body, encoding);
      expect([status, json]).toEqual([400, { code: 3, message: expect.stringContaining('not valid OTLP') }]);
    }
  });

  it('a request of more than 64 MiB is rejected, also after decompression', async () => {
    for (const compress of [gzipSync, deflateSync]) {
      // A thousandth of its size, and never decompressed as a whole.
      const bomb = compress(Buffer.alloc(65 * MIB));
      const encoding = compress === gzipSync ? 'gzip' : 'deflate';
      const { status, json } = await sendBytes(at('/otlp'), 'traces', bomb, {
        'content-type': PROTOBUF,
        'content-encoding': encoding,
      });
      expect([status, json]).toEqual([
        413,
        { code: 8, message: expect.stringContaining('64 MiB after decompression') },
      ]);
    }
  });

  it.each([
    ['too large', () => used.acme, '/otlp/v1/logs', 65, 413, 8],
    ['without a token', () => 'unknown', '/otlp/v1/logs', 60, 401, 16],
    ['sent to a wrong path', () => used.acme, '/', 60, 404, 12],
  ])('the body of a request that is %s is not read', async (_, getToken, path, size, expected, code) => {
    const connection = await openRawConnection(used.server.url);
    const headers = `authorization: ${getToken()}\r\ncontent-type: ${JSON_TYPE}\r\ncontent-length: ${size * MIB}`;
    connection.send(`POST ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`);
    const { status, json } = await connection.response();
    expect([status, json.code]).toEqual([expected, code]);
    connection.socket.destroy();
  });

  it('gRPC: stores compressed messages and reports rejected records', async () => {
    const exportAs = (authorization: string, signal: Signal, request: object) =>
      exportMessage({ port: used.server.otlpGrpcPort, authorization }, signal, encodeRequest(signal, request));
    const now = Date.now();
    const spans = [span(now), span(now, { spanId: 'ab' })];
    expect(await exportAs(used.acme, 'traces', toRequest('traces', spans, 'grpc'))).toEqual({
      partialSuccess: { rejectedSpans: '1', errorMessage: expect.stringContaining('its span id must have 8 bytes') },
    });
    for (const signal of SIGNALS)
      expect(await exportAs(`Bearer ${used.acme}`, signal, createFullRequest(signal, now))).toEqual({});
    expect(await readRows(used.server.engine, 'otel_traces', acme.id, { where: ofService('grpc') })).toHaveLength(1);
  });

  it.each([
    ['no token', () => undefined, Buffer.alloc(0), 16],
    ['an unknown token', () => 'Bearer unknown', Buffer.alloc(0), 16],
    ['a read-only token', () => `Bearer ${acme.token}`, Buffer.alloc(0), 7],
    ['a message that is not protobuf', () => used.acme, Buffer.from('not protobuf'), 3],
    ['a message of more than 64 MiB', () => used.acme, Buffer.alloc(64 * MIB + 1), 8],
  ])('gRPC: %s fails with a code that clients do not retry', async (_, getAuthorization, message, code) => {
    const target = { port: used.server.otlpGrpcPort, authorization: getAuthorization() };
    expect(await exportMessage(target, 'logs', message)).toEqual({ code, details: expect.any(String) });
    // Without a token that may send, nothing of the message is read.
    if (code === 16 || code === 7) expect(await startCall(target, 'logs')).toBe(code);
  });
});

describe('an engine that cannot be reached', () => {
  it('answers 503 with Retry-After, which makes senders try again', async () => {
    const server = await openInProcessServer({ telemetry: 'off', clickhouseUrl: 'http://writer:x@127.0.0.1:1' });
    try {
      const target = { url: `${server.url}/otlp`, authorization: await createIngestToken(server.url, acme) };
      for (const format of ['protobuf', 'json'] as const) {
        const { status, headers, json } = await send(target, 'logs', log('x'), format);
        expect([status, json.code]).toEqual([503, 14]);
        expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(5);
      }
    } finally {
      await server.remove();
    }
  });
});
