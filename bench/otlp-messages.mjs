// Requests as SDKs send them, encoded with protobufjs, which is also the baseline of the decoder.
import { randomBytes } from 'node:crypto';
import protobuf from 'protobufjs';

const PROTO = `
syntax = "proto3";
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
message KeyValue { string key = 1; AnyValue value = 2; }
message Resource { repeated KeyValue attributes = 1; }
message Scope { string name = 1; string version = 2; }
message LogRecord {
  fixed64 time_unix_nano = 1; int32 severity_number = 2; string severity_text = 3; AnyValue body = 5; repeated KeyValue attributes = 6;
  fixed32 flags = 8; bytes trace_id = 9; bytes span_id = 10; fixed64 observed_time_unix_nano = 11;
}
message ScopeLogs { Scope scope = 1; repeated LogRecord log_records = 2; }
message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; }
message Logs { repeated ResourceLogs resource_logs = 1; }
message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
message Status { string message = 2; int32 code = 3; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6; fixed64 start_time_unix_nano = 7;
  fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; repeated Event events = 11; Status status = 15;
}
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Traces { repeated ResourceSpans resource_spans = 1; }
message NumberDataPoint { fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3; double as_double = 4; repeated KeyValue attributes = 7; }
message Sum { repeated NumberDataPoint data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
message Metric { string name = 1; string description = 2; string unit = 3; Sum sum = 7; }
message ScopeMetrics { Scope scope = 1; repeated Metric metrics = 2; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
message Metrics { repeated ResourceMetrics resource_metrics = 1; }
`;
const { root } = protobuf.parse(PROTO);
const types = { logs: root.lookupType('Logs'), traces: root.lookupType('Traces'), metrics: root.lookupType('Metrics') };

const WORDS =
  'order payment timeout retry cache shipped customer basket refund carrier accepted declined queue worker'.split(' ');
const word = (number) => WORDS[number % WORDS.length];
const text = (key, value) => ({ key, value: { stringValue: value } });
const int = (key, value) => ({ key, value: { intValue: value } });

const resource = (sender) => ({
  attributes: [
    text('service.name', `checkout-${sender % 8}`),
    text('service.version', '4.18.2'),
    text('service.instance.id', `7f9c24e8-3b12-4f5a-9d61-0000000000${10 + sender}`),
    text('deployment.environment.name', 'production'),
    text('host.name', `ip-10-0-3-${sender}.internal`),
    text('k8s.pod.name', `checkout-6d5f7c9b8-${sender}`),
    text('k8s.namespace.name', 'shop'),
    text('telemetry.sdk.language', 'nodejs'),
  ],
});
const attributes = (number) => [
  text('http.request.method', number % 3 === 0 ? 'POST' : 'GET'),
  text('http.route', `/api/${word(number)}/{id}`),
  int('http.response.status_code', number % 50 === 0 ? 500 : 200),
  text('user.id', `user-${(number * 7919) % 10_000}`),
  text('thread.name', `worker-${number % 16}`),
  int('retry.count', number % 4),
];
const scope = { name: '@example/checkout', version: '1.2.0' };
/** A little earlier with every record, in the last minute. */
const nanos = (number) => (BigInt(Date.now()) - BigInt(number % 60_000)) * 1_000_000n + BigInt(number % 1_000_000);

const toLog = (number) => ({
  timeUnixNano: String(nanos(number)),
  observedTimeUnixNano: String(nanos(number)),
  severityNumber: number % 50 === 0 ? 17 : 9,
  severityText: number % 50 === 0 ? 'ERROR' : 'INFO',
  body: {
    stringValue: `${word(number)} ${number} ${word(number * 31)} after ${number % 900} ms for ${word(number * 17)}`,
  },
  attributes: attributes(number),
  flags: 1,
  traceId: randomBytes(16),
  spanId: randomBytes(8),
});
const toSpan = (number) => ({
  traceId: randomBytes(16),
  spanId: randomBytes(8),
  parentSpanId: number % 4 === 0 ? Buffer.alloc(0) : randomBytes(8),
  name: `GET /api/${word(number)}/{id}`,
  kind: 2,
  startTimeUnixNano: String(nanos(number)),
  endTimeUnixNano: String(nanos(number) + BigInt(number % 1000) * 1_000_000n),
  attributes: attributes(number),
  events:
    number % 10 === 0
      ? [{ timeUnixNano: String(nanos(number)), name: 'exception', attributes: [text('exception.type', 'Timeout')] }]
      : [],
  status: { code: number % 50 === 0 ? 2 : 0 },
});
const toPoint = (number) => ({
  startTimeUnixNano: String(nanos(0) - 3_600_000_000_000n),
  timeUnixNano: String(nanos(number)),
  asDouble: number / 3,
  attributes: attributes(number).slice(0, 4),
});

const toMetrics = (records) =>
  Array.from({ length: Math.ceil(records.length / 32) }, (_, index) => ({
    name: `http.server.${word(index)}.duration`,
    description: 'Duration of requests',
    unit: 'ms',
    sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: records.slice(index * 32, (index + 1) * 32) },
  }));

const BUILD = {
  logs: (sender, numbers) => ({
    resourceLogs: [{ resource: resource(sender), scopeLogs: [{ scope, logRecords: numbers.map(toLog) }] }],
  }),
  traces: (sender, numbers) => ({
    resourceSpans: [{ resource: resource(sender), scopeSpans: [{ scope, spans: numbers.map(toSpan) }] }],
  }),
  metrics: (sender, numbers) => ({
    resourceMetrics: [
      { resource: resource(sender), scopeMetrics: [{ scope, metrics: toMetrics(numbers.map(toPoint)) }] },
    ],
  }),
};

/** A request with `count` records, as bytes. */
export function createRequest(signal, format, sender, first, count) {
  const message = BUILD[signal](
    sender,
    Array.from({ length: count }, (_, index) => first + index),
  );
  if (format === 'protobuf') return Buffer.from(types[signal].encode(types[signal].fromObject(message)).finish());
  return Buffer.from(
    JSON.stringify(message, (_, value) => (value?.type === 'Buffer' ? Buffer.from(value.data).toString('hex') : value)),
  );
}

/** Decodes into objects, as generated code does. */
export const decodeObjects = (signal, bytes) => types[signal].decode(bytes);
