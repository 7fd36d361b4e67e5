import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClickHouseServer, getWriterUrl, startClickHouseServer } from '../support/clickhouse-server.ts';
import type { Json } from '../support/client.ts';
import { readRows } from '../support/engine-rows.ts';
import { acme, globex } from '../support/fleet.ts';
import { type InProcessServer, openInProcessServer } from '../support/in-process-server.ts';
import { createIngestToken } from '../support/ingest.ts';
import { spawnProgram } from '../support/process.ts';
import { START_LIMIT_MS } from '../support/server.ts';

const APP = join(import.meta.dirname, 'node/otel-app.mjs');
const KINDS = ['Internal', 'Server', 'Client', 'Producer', 'Consumer'];
const STATUSES = ['Unset', 'Ok', 'Error'];

/** How a value of an attribute is stored. */
const store = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value);
const storeAll = (attributes: object): Record<string, string> =>
  Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, store(value)]));

/** Runs the instrumented program with the variables that a person would set; resolves with what it sent. */
async function runApp(service: string, token: string, variables: Record<string, string>): Promise<Json> {
  const app = spawnProgram([], {
    program: APP,
    environment: {
      OTEL_SERVICE_NAME: service,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,team=gr%C3%B6%C3%9Fe',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${token}`,
      // A batch may wait for an engine that starts on a busy machine.
      OTEL_EXPORTER_OTLP_TIMEOUT: '60000',
      OTEL_METRIC_EXPORT_TIMEOUT: '60000',
      OTEL_METRIC_EXPORT_INTERVAL: '60000',
      OTEL_LOG_LEVEL: 'warn',
      ...variables,
    },
  });
  expect([await app.ended, app.stderr()]).toEqual([0, '']);
  return JSON.parse(app.stdout());
}

describe("OpenTelemetry's SDK for Node.js", () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-sdk-'));
  let embedded: InProcessServer;
  let external: InProcessServer;
  let clickHouse: ClickHouseServer;
  beforeAll(async () => {
    clickHouse = await startClickHouseServer(directory);
    embedded = await openInProcessServer({ otlpPort: '0', telemetry: 'off' });
    external = await openInProcessServer({
      otlpGrpcPort: '0',
      telemetry: 'off',
      clickhouseUrl: getWriterUrl(clickHouse),
    });
  }, START_LIMIT_MS);
  afterAll(async () => {
    await embedded?.remove();
    await external?.remove();
    await clickHouse?.close();
    rmSync(directory, { recursive: true, force: true });
  }, START_LIMIT_MS);

  it.each([
    ['http/protobuf', 'on its own port', () => embedded, (server: InProcessServer) => server.otlpUrl],
    ['http/json', 'under /otlp/', () => embedded, (server: InProcessServer) => `${server.url}/otlp/`],
    [
      'grpc',
      'to a ClickHouse server',
      () => external,
      (server: InProcessServer) => `http://127.0.0.1:${server.otlpGrpcPort}`,
    ],
  ])(
    '%s %s: every field and attribute of logs, spans and metrics is stored',
    { timeout: 180_000 },
    async (protocol, _, getServer, getEndpoint) => {
      const server = getServer();
      const token = await createIngestToken(server.url, acme);
      const before = Date.now();
      const sent = await runApp(protocol, token, {
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_ENDPOINT: getEndpoint(server),
        ...(protocol === 'http/json' && { OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' }),
      });
      const after = Date.now();
      const where = `ServiceName = '${protocol}'`;
      const read = (table: string, order: string) => readRows(server.engine, table, acme.id, { where, order });
      const origin = {
        OrganizationId: acme.id,
        ServiceName: protocol,
        ResourceAttributes: storeAll(sent.resource),
      };
      expect(sent.resource).toMatchObject({
        'service.name': protocol,
        team: 'größe',
        'process.pid': expect.any(Number),
      });

      const spans = await read('otel_traces', 'Timestamp, SpanId');
      expect(byId(spans)).toEqual(
        byId(
          sent.spans.map((span: Json) => ({
            ...origin,
            ScopeName: 'tracer',
            ScopeVersion: '0.1',
            Timestamp: span.start,
            TraceId: span.traceId,
            SpanId: span.spanId,
            ParentSpanId: span.parentSpanId,
            TraceState: '',
            SpanName: span.name,
            SpanKind: KINDS[span.kind],
            SpanAttributes: storeAll(span.attributes),
            Duration: Number(BigInt(span.end) - BigInt(span.start)),
            StatusCode: STATUSES[span.status.code],
            StatusMessage: span.status.message ?? '',
            'Events.Timestamp': span.events.map(({ time }: Json) => time),
            'Events.Name': span.events.map(({ name }: Json) => name),
            'Events.Attributes': span.events.map(({ attributes }: Json) => storeAll(attributes)),
            'Links.TraceId': span.links.map(({ context }: Json) => context.traceId),
            'Links.SpanId': span.links.map(({ context }: Json) => context.spanId),
            'Links.TraceState': span.links.map(() => ''),
            'Links.Attributes': span.links.map(({ attributes }: Json) => storeAll(attributes)),
          })),
        ),
      );

      const [, parent] = sent.spans;
      const logs = await read('otel_logs', 'SeverityNumber DESC');
      expect(logs).toEqual(
        sent.records.map((record: Json, index: number) => ({
          ...origin,
          ScopeName: 'logger',
          ScopeVersion: '2.0',
          ScopeAttributes: {},
          ScopeSchemaUrl: 'https://schema/logs',
          ResourceSchemaUrl: '',
          Timestamp: `${sent.timestamp}000000`,
          TraceId: index === 0 ? parent.traceId : '',
          SpanId: index === 0 ? parent.spanId : '',
          TraceFlags: index === 0 ? 1 : 0,
          SeverityText: ['Error', 'INFO', ''][index],
          SeverityNumber: record.severityNumber ?? 0,
          Body: store(record.body),
          LogAttributes: storeAll(record.attributes ?? {}),
          EventName: record.eventName ?? '',
        })),
      );

      const common = {
        ...origin,
        ResourceSchemaUrl: '',
        ScopeName: 'meter',
        ScopeVersion: '3.0',
        ScopeAttributes: {},
        ScopeDroppedAttrCount: 0,
        ScopeSchemaUrl: 'https://schema/metrics',
        MetricDescription: '',
        MetricUnit: '',
        StartTimeUnix: expect.any(String),
        TimeUnix: expect.any(String),
        Attributes: {},
        Flags: 0,
        'Exemplars.FilteredAttributes': [],
        'Exemplars.TimeUnix': [],
        'Exemplars.Value': [],
        'Exemplars.SpanId': [],
        'Exemplars.TraceId': [],
      };
      const described = { MetricDescription: 'described', MetricUnit: 'ms' };
      const gauges = await read('otel_metrics_gauge', 'MetricName');
      expect(gauges).toEqual([
        { ...common, MetricName: 'memory', Value: 1e15, Attributes: { kind: 'rss' } },
        { ...common, MetricName: 'temperature', Value: -1.25, Attributes: { room: 'a' } },
      ]);
      const cumulative = { AggregationTemporality: 2 };
      const sums = await read('otel_metrics_sum', 'MetricName');
      expect(sums).toEqual([
        { ...common, ...cumulative, MetricName: 'cpu.time', Value: 0.75, IsMonotonic: true },
        {
          ...common,
          ...cumulative,
          MetricName: 'in.flight',
          Value: -2,
          IsMonotonic: false,
          Attributes: storeAll(parent.attributes),
        },
        {
          ...common,
          ...cumulative,
          ...described,
          MetricName: 'requests',
          Value: 3,
          IsMonotonic: true,
          Attributes: { route: '/cart', code: '200' },
        },
      ]);
      const histograms = await read('otel_metrics_histogram', 'MetricName');
      expect(histograms).toEqual([
        {
          ...common,
          ...cumulative,
          ...described,
          MetricName: 'request.duration',
          Attributes: { route: '/cart' },
          Count: 4,
          Sum: 1125.5,
          Min: 5,
          Max: 1000,
          BucketCounts: [1, 0, 2, 1],
          ExplicitBounds: [10, 50, 100.5],
        },
      ]);
      const exponential = await read('otel_metrics_exponential_histogram', 'MetricName');
      expect(exponential).toEqual([
        {
          ...common,
          ...cumulative,
          MetricName: 'payload.size',
          MetricUnit: 'By',
          Count: 5,
          Sum: 1007,
          Min: 0,
          Max: 1000,
          Scale: expect.any(Number),
          ZeroCount: 1,
          PositiveOffset: expect.any(Number),
          PositiveBucketCounts: expect.any(Array),
          NegativeOffset: 0,
          NegativeBucketCounts: [],
        },
      ]);
      expectBuckets(exponential[0], [1, 2, 4, 1000]);

      for (const { TimeUnix, StartTimeUnix } of [...gauges, ...sums, ...histograms, ...exponential]) {
        expect(Number(TimeUnix) / 1e6).toBeGreaterThanOrEqual(before);
        expect(Number(TimeUnix) / 1e6).toBeLessThanOrEqual(after);
        expect(BigInt(StartTimeUnix) <= BigInt(TimeUnix)).toBe(true);
      }
      for (const table of ['otel_logs', 'otel_traces', 'otel_metrics_gauge'])
        expect(await readRows(server.engine, table, globex.id)).toEqual([]);
    },
  );
});

const byId = (rows: Json[]): Json[] => [...rows].sort((a, b) => (a.SpanId < b.SpanId ? -1 : 1));

/** Each value is in the bucket that the scale and the offset give it, as OpenTelemetry's data model defines them. */
function expectBuckets({ Scale, PositiveOffset, PositiveBucketCounts }: Json, values: number[]): void {
  const base = 2 ** (2 ** -Scale);
  const counts: number[] = PositiveBucketCounts.map(Number);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(values.length);
  counts.forEach((count, index) => {
    const lower = base ** (PositiveOffset + index);
    const upper = base ** (PositiveOffset + index + 1);
    // Powers of two are exact upper bounds, so rounding must not move them into the next bucket.
    const inside = values.filter((value) => value > lower * (1 + 1e-9) && value <= upper * (1 + 1e-9));
    expect([index, count]).toEqual([index, inside.length]);
  });
}
