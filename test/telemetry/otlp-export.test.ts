import { describe, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { useReceiver } from '../support/receiver.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const HEADER = 'collector-key-that-is-secret';

const attributes = (list: Json[]): Json =>
  Object.fromEntries(list.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));

describe('OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  const receiver = useReceiver();

  const start = (origin: string, options: object = {}): Promise<TestServer> =>
    startServer('libsql', {
      args: ['--telemetry', 'off'],
      environment: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${origin}/otlp/`,
        OTEL_EXPORTER_OTLP_HEADERS: `api-key=${HEADER}`,
        OTEL_SERVICE_NAME: 'control-plane',
      },
      ...options,
    });
  const getOrigin = () => new URL(receiver.url).origin;
  const listBodies = (path: string): Json[] =>
    receiver.received.filter((request) => request.path === path).map(({ body }) => JSON.parse(body));
  const listSpans = (): Json[] =>
    listBodies('/otlp/v1/traces').flatMap(({ resourceSpans }) => resourceSpans[0].scopeSpans[0].spans);

  it('sends spans, log records and metrics as OTLP, also without the engine', async () => {
    receiver.status = 200;
    const server = await start(getOrigin(), { inProcess: true });
    const path = `/v1/organizations/${acme.id}`;
    let ids: string[] = [];
    try {
      const found = await server.call({ path, key: acme.admin });
      const missing = await server.call({ path: '/v1/nothing' });
      ids = [found, missing].map(({ headers }) => headers.get('x-request-id')?.replaceAll('-', '') ?? '');
      await until(
        async () => listSpans().map(({ traceId }) => traceId),
        (sent) => ids.every((id) => sent.includes(id)),
        'the spans do not arrive',
      );
    } finally {
      // Stopping sends the metrics.
      await server.remove();
    }
    for (const { headers } of receiver.received)
      expect([headers['api-key'], headers['content-type']]).toEqual([HEADER, 'application/json']);

    const [span, unknown] = ids.map((id) => listSpans().find(({ traceId }) => traceId === id));
    expect(span).toMatchObject({ name: 'GET /v1/organizations/{organizationId}', kind: 2, status: {} });
    expect(span.spanId).toBe(ids[0]?.slice(16));
    expect(BigInt(span.endTimeUnixNano) > BigInt(span.startTimeUnixNano)).toBe(true);
    expect(Math.abs(Number(BigInt(span.endTimeUnixNano) / 1_000_000n) - Date.now())).toBeLessThan(600_000);
    expect(attributes(span.attributes)).toEqual({
      'http.request.method': 'GET',
      'http.route': '/v1/organizations/{organizationId}',
      operation: 'organizationGet',
      'credential.suffix': acme.admin.keyId.slice(-4),
      'pilothouse.organization.id': acme.id,
      'http.response.status_code': 200,
    });
    expect(unknown).toMatchObject({ name: 'GET unknown' });

    const [logs] = listBodies('/otlp/v1/logs');
    expect(attributes(logs.resourceLogs[0].resource.attributes)).toMatchObject({ 'service.name': 'control-plane' });
    const records: Json[] = listBodies('/otlp/v1/logs').flatMap(
      ({ resourceLogs }) => resourceLogs[0].scopeLogs[0].logRecords,
    );
    expect(records.find(({ traceId }) => traceId === ids[1])).toMatchObject({
      severityText: 'WARN',
      severityNumber: 13,
      body: { stringValue: 'GET unknown 404' },
    });

    const scopes: Json[] = listBodies('/otlp/v1/metrics').at(-1)?.resourceMetrics[0].scopeMetrics;
    expect(scopes.map(({ scope }) => scope.name).sort()).toEqual(['pilothouse.http', 'pilothouse.process']);
    const metrics: Json[] = scopes.flatMap((scope) => scope.metrics);
    const find = (name: string) => metrics.find((metric) => metric.name === name);
    const requests = find('http.server.requests').sum;
    expect(requests).toMatchObject({ aggregationTemporality: 2, isMonotonic: true });
    const point = requests.dataPoints.find((one: Json) => attributes(one.attributes).operation === 'organizationGet');
    expect(point.asInt).toBe('1');
    const [duration] = find('http.server.request.duration').histogram.dataPoints;
    expect(duration.bucketCounts).toHaveLength(duration.explicitBounds.length + 1);
    expect(find('store.commit.duration').histogram.dataPoints).toHaveLength(1);
    expect(find('process.memory.rss').gauge.dataPoints[0].asDouble).toBeGreaterThan(1e7);

    const all = receiver.received.map(({ body }) => body).join();
    for (const secret of [acme.admin.keyId, acme.admin.keySecret, HEADER]) expect(all).not.toContain(secret);
  });

  it('counts what the collector rejects, and requests are served', async () => {
    receiver.status = 400;
    const server = await start(getOrigin(), { inProcess: true });
    try {
      const readDropped = async () => {
        const { text } = await server.call({ path: '/metrics' });
        return Number(/^pilothouse_telemetry_export_dropped_total\{reason="rejected"\} (\d+)$/m.exec(text)?.[1]);
      };
      expect(await until(readDropped, (count) => count > 0, 'nothing is counted')).toBeGreaterThan(1);
    } finally {
      await server.remove();
    }
  });

  it('warns once while the collector cannot be reached, logs no header, and does not delay the stop', async () => {
    // No server listens on port 1.
    const server = await start('http://127.0.0.1:1');
    try {
      expect((await server.call({ path: '/readyz' })).status).toBe(200);
      expect(await server.stop()).toBe(0);
      const lines = server
        .log()
        .split('\n')
        .filter((line) => line.includes('failed to export telemetry'));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain('"reason":"');
      expect(server.log()).not.toContain(HEADER);
    } finally {
      await server.remove();
    }
  });
});
