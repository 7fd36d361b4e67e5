import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readRows } from '../../support/engine-rows.ts';
import { acme } from '../../support/fleet.ts';
import { useIngest } from '../../support/ingest.ts';
import { describeClient, installFromPyPi } from '../install.ts';

const PACKAGES = [
  'opentelemetry-sdk==1.45.2',
  'opentelemetry-exporter-otlp-proto-http==1.45.1',
  'opentelemetry-exporter-otlp-proto-grpc==1.45.1',
];
const APP = join(import.meta.dirname, '../python/otel_app.py');
/** As `ATTRIBUTES` of the program is stored. */
const ATTRIBUTES = {
  text: 'größer ✓',
  int: '-9223372036854775808',
  double: '0.1',
  yes: 'true',
  list: '["a","b\\"c"]',
  numbers: '[1,2]',
};

describeClient(
  "OpenTelemetry's SDK for Python",
  () => installFromPyPi(...PACKAGES),
  (programs) => {
    const used = useIngest('libsql');

    it.each([
      ['http', () => used.server.otlpUrl, 'none'],
      ['grpc', () => `http://127.0.0.1:${used.server.otlpGrpcPort}`, 'gzip'],
    ])('%s: every field and attribute is stored, exemplars included', async (protocol, getEndpoint, compression) => {
      const service = `python ${protocol}`;
      const { stdout, stderr } = await promisify(execFile)(join(programs, 'python'), [APP, protocol], {
        env: {
          PATH: process.env.PATH,
          OTEL_SERVICE_NAME: service,
          OTEL_RESOURCE_ATTRIBUTES: 'team=a',
          OTEL_EXPORTER_OTLP_ENDPOINT: getEndpoint(),
          OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${used.acme}`,
          OTEL_EXPORTER_OTLP_COMPRESSION: compression,
          OTEL_EXPORTER_OTLP_TIMEOUT: '60',
        },
      });
      expect(stderr).toBe('');
      const { resource, linked, span, now } = JSON.parse(stdout);
      const read = (table: string, order = '1') =>
        readRows(used.server.engine, table, acme.id, { where: `ServiceName = '${service}'`, order });
      const origin = {
        OrganizationId: acme.id,
        ServiceName: service,
        ResourceAttributes: Object.fromEntries(Object.entries(resource).map(([key, value]) => [key, String(value)])),
      };
      const schemas = {
        ResourceSchemaUrl: '',
        ScopeAttributes: { scope: 'yes' },
      };
      expect(resource).toMatchObject({ 'service.name': service, team: 'a', 'telemetry.sdk.language': 'python' });

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
          TraceFlags: 1,
          SeverityText: 'warning',
          SeverityNumber: 13,
          Body: '{"user":"ada","raw":"AAE=","tries":[1,2.5,null]}',
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
      const exemplar = (value: number) => ({
        'Exemplars.FilteredAttributes': [{}],
        'Exemplars.TimeUnix': [expect.stringMatching(/^1\d{18}$/)],
        'Exemplars.Value': [value],
        'Exemplars.SpanId': [span.spanId],
        'Exemplars.TraceId': [span.traceId],
      });
      const delta = { AggregationTemporality: 1 };
      expect(await read('otel_metrics_sum')).toEqual([
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
      expect(await read('otel_metrics_histogram')).toEqual([
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
      expect(await read('otel_metrics_exponential_histogram')).toEqual([
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
      expect(await read('otel_metrics_gauge')).toMatchObject([
        { MetricName: 'temperature', Value: -1.25, Attributes: { room: 'a' } },
      ]);
    });
  },
);
