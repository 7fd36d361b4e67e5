import { describe, expect, it } from 'vitest';
import { SIGNALS } from '../../src/observability/ingest/wire/otlp-messages.ts';
import type { Json } from '../support/client.ts';
import { countRows, readRows } from '../support/engine-rows.ts';
import { acme, globex } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { send, sendBytes, type Target } from '../support/otlp-client.ts';
import { encodeRequest } from '../support/otlp-encoding.ts';
import { createValid, LARGE_SHARED, listRejected } from '../support/otlp-rejected.ts';
import {
  createFullRequest,
  EVERY_KIND_STORED,
  logRecord,
  numberPoint,
  span,
  text,
  toNanos,
  toRequest,
} from '../support/otlp-requests.ts';
import { until } from '../support/until.ts';

const DAY_MS = 86_400_000;
const RETENTION_DAYS = 3650;
const TABLES = { logs: 'otel_logs', traces: 'otel_traces', metrics: 'otel_metrics_gauge' };
const REJECTED = { logs: 'rejectedLogRecords', traces: 'rejectedSpans', metrics: 'rejectedDataPoints' };
const TRACE = '5b8efff798038103d269b633813fc60c';
const SPAN = 'eee19b7ec3c1b174';

describe('records over OTLP', () => {
  const used = useIngest('libsql', { telemetryRetentionDays: String(RETENTION_DAYS) });
  const target = (): Target => ({ url: `${used.server.url}/otlp`, authorization: used.acme });
  const read = (table: string, service: string, order = '1') =>
    readRows(used.server.engine, table, acme.id, { where: `ServiceName = '${service}'`, order });

  const origin = (service: string) => ({
    OrganizationId: acme.id,
    ServiceName: service,
    ResourceAttributes: { 'service.name': service, ...EVERY_KIND_STORED },
    ScopeName: 'scope',
    ScopeVersion: '1.2',
  });
  const schemas = {
    ResourceSchemaUrl: 'https://schema/resource',
    ScopeAttributes: { a: 'b' },
    ScopeSchemaUrl: 'https://schema/scope',
  };

  it('stores every field of a log record and of a span', async () => {
    const now = Date.now();
    expect((await send(target(), 'logs', toRequest('logs', [logRecord(now)], 'full'))).status).toBe(200);
    expect(await read('otel_logs', 'full')).toEqual([
      {
        ...origin('full'),
        ...schemas,
        Timestamp: toNanos(now),
        TraceId: TRACE,
        SpanId: SPAN,
        TraceFlags: 1,
        SeverityText: 'error!',
        SeverityNumber: 17,
        Body: 'payment failed',
        LogAttributes: EVERY_KIND_STORED,
        EventName: 'payment.failed',
      },
    ]);
    expect((await send(target(), 'traces', toRequest('traces', [span(now)], 'full'))).status).toBe(200);
    expect(await read('otel_traces', 'full')).toEqual([
      {
        ...origin('full'),
        Timestamp: toNanos(now),
        TraceId: TRACE,
        SpanId: SPAN,
        ParentSpanId: 'eee19b7ec3c1b173',
        TraceState: 'a=b',
        SpanName: 'GET /cart',
        SpanKind: 'Server',
        SpanAttributes: EVERY_KIND_STORED,
        Duration: 25_000_000,
        StatusCode: 'Error',
        StatusMessage: 'broken',
        'Events.Timestamp': [toNanos(now + 1), toNanos(now + 2)],
        'Events.Name': ['retry', 'done'],
        'Events.Attributes': [EVERY_KIND_STORED, {}],
        'Links.TraceId': ['6b8efff798038103d269b633813fc60c'],
        'Links.SpanId': [SPAN],
        'Links.TraceState': ['c=d'],
        'Links.Attributes': [EVERY_KIND_STORED],
      },
    ]);
  });

  it('stores every field of all kinds of metrics', async () => {
    const now = Date.now();
    expect((await send(target(), 'metrics', createFullRequest('metrics', now))).status).toBe(200);
    const common = {
      ...origin('checkout'),
      ...schemas,
      ScopeDroppedAttrCount: 3,
      MetricDescription: 'described',
      MetricUnit: 'ms',
      StartTimeUnix: toNanos(now - 1000),
      TimeUnix: toNanos(now),
      Attributes: EVERY_KIND_STORED,
    };
    const exemplars = {
      'Exemplars.FilteredAttributes': [EVERY_KIND_STORED, {}],
      'Exemplars.TimeUnix': [toNanos(now), toNanos(now)],
      'Exemplars.Value': [2.5, -3],
      'Exemplars.SpanId': [SPAN, ''],
      'Exemplars.TraceId': [TRACE, ''],
    };
    const noExemplars = Object.fromEntries(Object.keys(exemplars).map((name) => [name, []]));
    expect(await read('otel_metrics_gauge', 'checkout', 'Value')).toEqual([
      { ...common, MetricName: 'a.gauge', Value: -12, Attributes: {}, Flags: 0, ...noExemplars },
      { ...common, MetricName: 'a.gauge', Value: 0.25, Flags: 1, ...exemplars },
    ]);
    const cumulative = { AggregationTemporality: 2 };
    expect(await read('otel_metrics_sum', 'checkout')).toEqual([
      { ...common, ...cumulative, MetricName: 'a.sum', Value: 0.25, Flags: 1, IsMonotonic: true, ...exemplars },
    ]);
    expect(await read('otel_metrics_histogram', 'checkout')).toEqual([
      {
        ...common,
        ...exemplars,
        MetricName: 'a.histogram',
        Flags: 0,
        Count: 6,
        Sum: 12.5,
        Min: 0.1,
        Max: 11,
        BucketCounts: [1, 2, 3],
        ExplicitBounds: [0.5, 10],
        AggregationTemporality: 1,
      },
    ]);
    expect(await read('otel_metrics_exponential_histogram', 'checkout')).toEqual([
      {
        ...common,
        ...cumulative,
        ...exemplars,
        MetricName: 'an.exponential.histogram',
        Flags: 1,
        Count: '18446744073709551615',
        Sum: -1.5,
        Min: -2,
        Max: 3,
        Scale: -4,
        ZeroCount: 5,
        PositiveOffset: -3,
        PositiveBucketCounts: [1, 300, '18446744073709551615'],
        NegativeOffset: 2,
        NegativeBucketCounts: [9],
      },
    ]);
    expect(await read('otel_metrics_summary', 'checkout')).toEqual([
      {
        ...common,
        MetricName: 'a.summary',
        Flags: 0,
        Count: 4,
        Sum: 8,
        'ValueAtQuantiles.Quantile': [0.5, 0.99],
        // Infinity, which JSON cannot express.
        'ValueAtQuantiles.Value': [1, null],
      },
    ]);
  });

  it('rejects records one by one, stores the others, and counts both', async () => {
    const now = Date.now();
    const formats = ['protobuf', 'json'] as const;
    const cases = SIGNALS.flatMap((signal) =>
      formats.map((format) => ({ signal, format, service: `partly ${format}` })),
    );
    await Promise.all(
      cases.map(async ({ signal, format, service }) => {
        const rejected = listRejected(signal, now, RETENTION_DAYS);
        const records = rejected.flatMap(({ record }) => [createValid(signal, now), record]);
        const { status, json } = await send(target(), signal, toRequest(signal, records, service), format);
        const errorMessage = expect.stringContaining(rejected[0]?.reason ?? '');
        expect([status, json]).toEqual([
          200,
          { partialSuccess: { [REJECTED[signal]]: String(rejected.length), errorMessage } },
        ]);
        expect(await read(TABLES[signal], service)).toHaveLength(rejected.length);
      }),
    );
    const where = "startsWith(ServiceName, 'partly')";
    const expected = cases.reduce((sum, { signal }) => sum + listRejected(signal, now, RETENTION_DAYS).length, 0);
    const counts = await until(
      () => readRows(used.server.engine, 'ingest_counts', acme.id, { where }),
      (rows) => countRecords(rows) >= 2 * expected,
      'nothing is counted',
    );
    expect(countRecords(counts.filter(({ Reason }) => Reason === ''))).toBe(expected);
    expect(countRecords(counts)).toBe(2 * expected);
    for (const { Reason, Sample } of counts) expect(Reason === '').toBe(Sample === '');
  });

  it('rejects the records of a resource that is too large, and no others', async () => {
    const request = toRequest('logs', [logRecord(Date.now())], 'beside a large one');
    const large = toRequest('logs', [logRecord(Date.now())]);
    large.resourceLogs[0].resource.attributes = LARGE_SHARED;
    const both = { resourceLogs: [...large.resourceLogs, ...request.resourceLogs] };
    const { json } = await send(target(), 'logs', both);
    expect(json.partialSuccess).toEqual({
      rejectedLogRecords: '1',
      errorMessage: expect.stringContaining('its resource: it is larger than 64 KiB'),
    });
    expect(await read('otel_logs', 'beside a large one')).toHaveLength(1);
  });

  it('stores rows of 400 days in one request, beside those of another sender', async () => {
    const now = Date.now();
    const days = Array.from({ length: 400 }, (_, day) => logRecord(now - day * DAY_MS));
    const [many, one] = await Promise.all([
      send(target(), 'logs', toRequest('logs', days, 'many days')),
      send({ ...target(), authorization: used.globex }, 'logs', toRequest('logs', [logRecord(now)], 'one day')),
    ]);
    expect([many.status, many.json, one.status]).toEqual([200, {}, 200]);
    const where = "ServiceName = 'many days'";
    expect(await countRows(used.server.engine, 'otel_logs', acme.id, where)).toBe(400);
    expect(await countRows(used.server.engine, 'otel_logs', globex.id, where)).toBe(0);
  });

  it('stores NaN and infinite values, text that is not UTF-8, and ids that are none', async () => {
    const dataPoints = ['NaN', 'Infinity', '-Infinity'].map((asDouble) => numberPoint(Date.now(), { asDouble }));
    const metrics = toRequest('metrics', [{ name: 'odd', gauge: { dataPoints } }], 'odd values');
    for (const format of ['protobuf', 'json'] as const)
      expect((await send(target(), 'metrics', metrics, format)).json).toEqual({});
    const { engine } = used.server;
    for (const test of ['isNaN(Value)', 'isInfinite(Value) AND Value > 0', 'isInfinite(Value) AND Value < 0'])
      expect(await countRows(engine, 'otel_metrics_gauge', acme.id, `ServiceName = 'odd values' AND ${test}`)).toBe(2);

    const log = logRecord(Date.now(), { traceId: 'abcd', spanId: '00'.repeat(8), attributes: [text('MARK', 'MARK')] });
    const bytes = encodeRequest('logs', toRequest('logs', [{ ...log, body: { stringValue: 'MARK' } }], 'odd text'));
    for (let at = bytes.indexOf('MARK'); at >= 0; at = bytes.indexOf('MARK')) bytes.fill(0xff, at, at + 4);
    const { status, json } = await sendBytes(target(), 'logs', bytes);
    expect([status, json]).toEqual([200, {}]);
    const odd = '\ufffd';
    expect(await read('otel_logs', 'odd text')).toMatchObject([
      { Body: odd, LogAttributes: { [odd]: odd }, TraceId: '', SpanId: '' },
    ]);
  });

  it('accepts empty requests, and records without a time', async () => {
    for (const signal of SIGNALS) {
      expect(await sendBytes(target(), signal, '')).toMatchObject({ status: 200, json: {} });
      expect(await send(target(), signal, {}, 'json')).toMatchObject({ status: 200, json: {} });
      expect(await send(target(), signal, toRequest(signal, []))).toMatchObject({ status: 200, json: {} });
    }
    const observed = toNanos(Date.now() - 5000);
    const records = [{}, { observedTimeUnixNano: observed }, { timeUnixNano: '0', observedTimeUnixNano: observed }];
    const before = BigInt(toNanos(Date.now()));
    expect((await send(target(), 'logs', toRequest('logs', records, 'timeless'))).status).toBe(200);
    const [first, second, third] = await read('otel_logs', 'timeless', 'Timestamp DESC');
    expect(BigInt(first.Timestamp) >= before).toBe(true);
    expect([second.Timestamp, third.Timestamp]).toEqual([observed, observed]);
  });
});

const countRecords = (rows: Json[]): number => rows.reduce((sum, { Records }) => sum + Records, 0);
