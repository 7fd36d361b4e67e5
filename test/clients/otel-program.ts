import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readRows } from '../support/engine-rows.ts';
import { acme } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';

/** As `ATTRIBUTES` of the programs is stored. */
const ATTRIBUTES = {
  text: 'größer ✓',
  int: '-9223372036854775808',
  double: '0.1',
  yes: 'true',
  list: '["a","b\\"c"]',
  numbers: '[1,2]',
};

/** Tests of a program that sends the same logs, spans and metrics as those in other languages, and prints what it sent. */
export function checkOtelProgram(language: string, command: string, ...args: string[]): void {
  const used = useIngest('libsql');

  it.each([
    ['http', () => used.server.otlpUrl, 'none'],
    ['grpc', () => `http://127.0.0.1:${used.server.otlpGrpcPort}`, 'gzip'],
  ])('%s: every field and attribute is stored, exemplars included', async (protocol, getEndpoint, compression) => {
    const service = `${language} ${protocol}`;
    const { stdout, stderr } = await promisify(execFile)(command, [...args, protocol], {
      env: {
        PATH: process.env.PATH,
        OTEL_SERVICE_NAME: service,
        OTEL_RESOURCE_ATTRIBUTES: 'team=a',
        OTEL_EXPORTER_OTLP_ENDPOINT: getEndpoint(),
        OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${used.acme}`,
        OTEL_EXPORTER_OTLP_COMPRESSION: compression,
        OTEL_EXPORTER_OTLP_TIMEOUT: language === 'python' ? '60' : '60000',
      },
    });
    expect(stderr).toBe('');
    await expectStored(used, language, service, stdout);
  });
}

async function expectStored(
  { server }: ReturnType<typeof useIngest>,
  language: string,
  service: string,
  stdout: string,
) {
  const { resource, linked, span, now, body, schemaUrl = '', scopeAttributes = { scope: 'yes' } } = JSON.parse(stdout);
  const read = (table: string, order = '1') =>
    readRows(server.engine, table, acme.id, { where: `ServiceName = '${service}'`, order });
  const origin = {
    OrganizationId: acme.id,
    ServiceName: service,
    ResourceAttributes: Object.fromEntries(Object.entries(resource).map(([key, value]) => [key, String(value)])),
  };
  const schemas = {
    ResourceSchemaUrl: schemaUrl,
    ScopeAttributes: scopeAttributes,
  };
  expect(resource).toMatchObject({ 'service.name': service, team: 'a', 'telemetry.sdk.language': language });

  expect(await read('otel_logs')).toEqual([
    {
      ...origin,
      ...schemas,
      ScopeName: 'logger',
      ScopeVersion: '2.0',
      ScopeSchemaUrl: 'https://schema/logs',
      Timestamp: now,
      TraceId: span.traceId,
      SpanId: span.spanId,
      TraceFlags: span.traceFlags,
      SeverityText: 'warning',
      SeverityNumber: 13,
      Body: body,
      LogAttributes: { ...ATTRIBUTES, nested: '{"a":[{"b":"c"}]}' },
      EventName: 'cart.missing',
    },
  ]);
  const common = {
    ...origin,
    ScopeName: 'tracer',
    ScopeVersion: '0.1',
    ParentSpanId: '',
    TraceState: '',
    StatusMessage: '',
  };
  const empty = {
    SpanAttributes: {},
    'Events.Timestamp': [],
    'Events.Name': [],
    'Events.Attributes': [],
    'Links.TraceId': [],
    'Links.SpanId': [],
    'Links.TraceState': [],
    'Links.Attributes': [],
  };
  expect(await read('otel_traces', 'Timestamp')).toEqual([
    {
      ...common,
      ...empty,
      Timestamp: linked.start,
      TraceId: linked.traceId,
      SpanId: linked.spanId,
      SpanName: 'linked',
      SpanKind: 'Producer',
      Duration: linked.duration,
      StatusCode: 'Unset',
    },
    {
      ...common,
      Timestamp: span.start,
      TraceId: span.traceId,
      SpanId: span.spanId,
      SpanName: 'GET /cart',
      SpanKind: 'Server',
      SpanAttributes: ATTRIBUTES,
      Duration: span.duration,
      StatusCode: 'Error',
      StatusMessage: 'no such cart',
      'Events.Timestamp': span.events,
      'Events.Name': ['cache miss'],
      'Events.Attributes': [{ key: 'cart:1' }],
      'Links.TraceId': [linked.traceId],
      'Links.SpanId': [linked.spanId],
      'Links.TraceState': [''],
      'Links.Attributes': [{ reason: 'queue' }],
    },
  ]);

  const metric = {
    ...origin,
    ...schemas,
    ScopeName: 'meter',
    ScopeVersion: '3.0',
    ScopeSchemaUrl: 'https://schema/metrics',
    ScopeDroppedAttrCount: 0,
    MetricDescription: '',
    MetricUnit: '',
    StartTimeUnix: expect.any(String),
    TimeUnix: expect.any(String),
    Flags: 0,
  };
  /** Without those that an SDK sends about itself. */
  const readMetrics = async (table: string) =>
    (await read(table)).filter(({ ScopeName }) => ScopeName === metric.ScopeName);
  const exemplar = (value: number) => ({
    'Exemplars.FilteredAttributes': [{}],
    'Exemplars.TimeUnix': [expect.stringMatching(/^1\d{18}$/)],
    'Exemplars.Value': [value],
    'Exemplars.SpanId': [span.spanId],
    'Exemplars.TraceId': [span.traceId],
  });
  const delta = { AggregationTemporality: 1 };
  expect(await readMetrics('otel_metrics_sum')).toEqual([
    {
      ...metric,
      ...delta,
      ...exemplar(3),
      MetricName: 'requests',
      MetricDescription: 'described',
      MetricUnit: '1',
      Attributes: { route: '/cart' },
      Value: 3,
      IsMonotonic: true,
    },
  ]);
  expect(await readMetrics('otel_metrics_histogram')).toEqual([
    {
      ...metric,
      ...delta,
      ...exemplar(20),
      MetricName: 'request.duration',
      MetricUnit: 'ms',
      Attributes: { route: '/cart' },
      Count: 1,
      Sum: 20,
      Min: 20,
      Max: 20,
      BucketCounts: [0, 1, 0],
      ExplicitBounds: [10, 50],
    },
  ]);
  expect(await readMetrics('otel_metrics_exponential_histogram')).toEqual([
    {
      ...metric,
      ...delta,
      ...exemplar(4),
      MetricName: 'payload.size',
      Attributes: {},
      Count: 1,
      Sum: 4,
      Min: 4,
      Max: 4,
      // With this scale, each power of two has 2^20 buckets, and 4 is the upper bound of the last one before 2^21.
      Scale: 20,
      ZeroCount: 0,
      PositiveOffset: 2 ** 21 - 1,
      PositiveBucketCounts: [1],
      NegativeOffset: 0,
      NegativeBucketCounts: expect.any(Array),
    },
  ]);
  expect(await readMetrics('otel_metrics_gauge')).toMatchObject([
    { MetricName: 'temperature', Value: -1.25, Attributes: { room: 'a' } },
  ]);
}
