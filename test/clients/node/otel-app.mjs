// An instrumented program. It knows OpenTelemetry's SDK and its environment variables only; prints what it sent as JSON.
import { context, metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { logs as logsApi, SeverityNumber } from '@opentelemetry/api-logs';
import { NodeSDK, metrics as sdkMetrics } from '@opentelemetry/sdk-node';

const sdk = new NodeSDK({
  views: [
    {
      instrumentName: 'payload.size',
      aggregation: { type: sdkMetrics.AggregationType.EXPONENTIAL_HISTOGRAM, options: { recordMinMax: true } },
    },
    {
      instrumentName: 'request.duration',
      aggregation: {
        type: sdkMetrics.AggregationType.EXPLICIT_BUCKET_HISTOGRAM,
        options: { boundaries: [10, 50, 100.5], recordMinMax: true },
      },
    },
  ],
});
sdk.start();

const ATTRIBUTES = {
  text: 'größer "than" ✓',
  empty: '',
  int: 42,
  negative: -9007199254740991,
  double: 0.1,
  yes: true,
  no: false,
  list: ['a', 'b"c'],
  numbers: [1, 2.5],
};

const tracer = trace.getTracer('tracer', '0.1', { schemaUrl: 'https://schema/traces' });
const linked = tracer.startSpan('linked', { kind: SpanKind.PRODUCER });
linked.end();
const parent = tracer.startSpan('GET /cart/:id', {
  kind: SpanKind.SERVER,
  attributes: ATTRIBUTES,
  links: [{ context: linked.spanContext(), attributes: { reason: 'queue', position: 3 } }],
});
const inParent = trace.setSpan(context.active(), parent);
parent.addEvent('cache miss', { key: 'cart:1', size: 12.5 });
parent.recordException(new TypeError('no such cart'));
parent.setStatus({ code: SpanStatusCode.ERROR, message: 'no such cart' });
const children = [SpanKind.INTERNAL, SpanKind.CLIENT, SpanKind.CONSUMER].map((kind) => {
  const child = tracer.startSpan(`child ${kind}`, { kind }, inParent);
  child.setStatus({ code: SpanStatusCode.OK });
  child.end();
  return child;
});
parent.end();

const logger = logsApi.getLogger('logger', '2.0', { schemaUrl: 'https://schema/logs' });
const timestamp = Date.now();
const records = [
  {
    eventName: 'cart.missing',
    severityNumber: SeverityNumber.ERROR2,
    severityText: 'Error',
    body: 'no such cart: größe ✓',
    attributes: { ...ATTRIBUTES, nested: { a: [1, { b: 'c' }], d: null } },
    context: inParent,
  },
  { severityNumber: SeverityNumber.INFO, body: { user: 'ada', tries: 3, ok: true } },
  { body: ['x', 1.5] },
];
for (const record of records) logger.emit({ ...record, timestamp });

const meter = metrics.getMeter('meter', '3.0', { schemaUrl: 'https://schema/metrics' });
const described = { description: 'described', unit: 'ms' };
meter.createCounter('requests', described).add(3, { route: '/cart', code: 200 });
meter.createUpDownCounter('in.flight', { valueType: 0 }).add(-2, ATTRIBUTES);
const duration = meter.createHistogram('request.duration', described);
for (const value of [5, 60, 60.5, 1000]) duration.record(value, { route: '/cart' });
const size = meter.createHistogram('payload.size', { unit: 'By' });
for (const value of [1, 2, 4, 1000, 0]) size.record(value);
meter.createGauge('temperature').record(-1.25, { room: 'a' });
meter.createObservableGauge('memory').addCallback((result) => result.observe(1e15, { kind: 'rss' }));
meter.createObservableCounter('cpu.time').addCallback((result) => result.observe(0.75));

/** An SDK counts in seconds and nanoseconds. */
const toNanos = ([seconds, nanos]) => String(BigInt(seconds) * 1_000_000_000n + BigInt(nanos));
const describeSpan = (span) => ({
  ...span.spanContext(),
  name: span.name,
  kind: span.kind,
  parentSpanId: span.parentSpanContext?.spanId ?? '',
  start: toNanos(span.startTime),
  end: toNanos(span.endTime),
  attributes: span.attributes,
  status: span.status,
  events: span.events.map(({ name, time, attributes = {} }) => ({ name, time: toNanos(time), attributes })),
  links: span.links,
});

await sdk.shutdown();
console.log(
  JSON.stringify({
    resource: linked.resource.attributes,
    spans: [linked, parent, ...children].map(describeSpan),
    timestamp,
    records: records.map(({ context: _, ...record }) => record),
  }),
);
