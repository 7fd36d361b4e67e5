import type { Signal } from '../../src/observability/ingest/wire/otlp-messages.ts';
import type { Json } from './client.ts';

/** Requests in OTLP/JSON that use every field of every message. */

export const toNanos = (milliseconds: number): string => `${milliseconds}000000`;

export const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });

const TRACE = '5b8efff798038103d269b633813fc60c';
const SPAN = 'eee19b7ec3c1b174';

/** Every kind of value. */
const EVERY_KIND = [
  text('text', 'größer ✓'),
  { key: 'yes', value: { boolValue: true } },
  { key: 'no', value: { boolValue: false } },
  { key: 'int', value: { intValue: '-9223372036854775808' } },
  { key: 'double', value: { doubleValue: 1.5 } },
  { key: 'nan', value: { doubleValue: 'NaN' } },
  { key: 'bytes', value: { bytesValue: 'AAEC/w==' } },
  {
    key: 'list',
    value: {
      arrayValue: {
        values: [{ stringValue: 'a"b' }, { intValue: '7' }, {}, { doubleValue: '-Infinity' }, { bytesValue: 'AQ==' }],
      },
    },
  },
  {
    key: 'map',
    value: {
      kvlistValue: { values: [text('inner', 'x'), { key: 'deep', value: { arrayValue: { values: [] } } }] },
    },
  },
  { key: 'empty', value: {} },
];

/** `EVERY_KIND` as it is stored. */
export const EVERY_KIND_STORED = {
  text: 'größer ✓',
  yes: 'true',
  no: 'false',
  int: '-9223372036854775808',
  double: '1.5',
  nan: 'NaN',
  bytes: 'AAEC/w==',
  list: '["a\\"b",7,null,"-Infinity","AQ=="]',
  map: '{"inner":"x","deep":[]}',
  empty: '',
};

const RECORDS: Record<Signal, { resources: string; scopes: string; records: string }> = {
  logs: { resources: 'resourceLogs', scopes: 'scopeLogs', records: 'logRecords' },
  traces: { resources: 'resourceSpans', scopes: 'scopeSpans', records: 'spans' },
  metrics: { resources: 'resourceMetrics', scopes: 'scopeMetrics', records: 'metrics' },
};

/** A request with one resource and one scope. */
export function toRequest(signal: Signal, records: readonly object[], service = 'checkout'): Json {
  const names = RECORDS[signal];
  return {
    [names.resources]: [
      {
        resource: { attributes: [text('service.name', service), ...EVERY_KIND] },
        [names.scopes]: [
          {
            scope: { name: 'scope', version: '1.2', attributes: [text('a', 'b')], droppedAttributesCount: 3 },
            [names.records]: records,
            schemaUrl: 'https://schema/scope',
          },
        ],
        schemaUrl: 'https://schema/resource',
      },
    ],
  };
}

export const logRecord = (now: number, more: object = {}): Json => ({
  timeUnixNano: toNanos(now),
  observedTimeUnixNano: toNanos(now + 1),
  severityNumber: 17,
  severityText: 'error!',
  body: { stringValue: 'payment failed' },
  attributes: EVERY_KIND,
  flags: 257,
  traceId: TRACE,
  spanId: SPAN,
  eventName: 'payment.failed',
  ...more,
});

export const span = (now: number, more: object = {}): Json => ({
  traceId: TRACE,
  spanId: SPAN,
  traceState: 'a=b',
  parentSpanId: 'eee19b7ec3c1b173',
  name: 'GET /cart',
  kind: 2,
  startTimeUnixNano: toNanos(now),
  endTimeUnixNano: toNanos(now + 25),
  attributes: EVERY_KIND,
  events: [
    { timeUnixNano: toNanos(now + 1), name: 'retry', attributes: EVERY_KIND },
    { timeUnixNano: toNanos(now + 2), name: 'done' },
  ],
  links: [{ traceId: '6b8efff798038103d269b633813fc60c', spanId: SPAN, traceState: 'c=d', attributes: EVERY_KIND }],
  status: { message: 'broken', code: 2 },
  ...more,
});

const exemplars = (now: number) => [
  { timeUnixNano: toNanos(now), asDouble: 2.5, spanId: SPAN, traceId: TRACE, filteredAttributes: EVERY_KIND },
  { timeUnixNano: toNanos(now), asInt: '-3' },
];

const times = (now: number) => ({ startTimeUnixNano: toNanos(now - 1000), timeUnixNano: toNanos(now) });

export const numberPoint = (now: number, more: object = {}): Json => ({
  ...times(now),
  asDouble: 0.25,
  attributes: EVERY_KIND,
  flags: 1,
  exemplars: exemplars(now),
  ...more,
});

const named = (name: string) => ({ name, description: 'described', unit: 'ms' });

/** One metric of each kind, each with one data point and some with two. */
const everyMetric = (now: number): Json[] => [
  { ...named('a.gauge'), gauge: { dataPoints: [numberPoint(now), { ...times(now), asInt: '-12' }] } },
  {
    ...named('a.sum'),
    sum: { dataPoints: [numberPoint(now)], aggregationTemporality: 2, isMonotonic: true },
  },
  {
    ...named('a.histogram'),
    histogram: {
      aggregationTemporality: 1,
      dataPoints: [
        {
          ...times(now),
          count: '6',
          sum: 12.5,
          bucketCounts: ['1', '2', '3'],
          explicitBounds: [0.5, 10],
          exemplars: exemplars(now),
          attributes: EVERY_KIND,
          flags: 0,
          min: 0.1,
          max: 11,
        },
      ],
    },
  },
  {
    ...named('an.exponential.histogram'),
    exponentialHistogram: {
      aggregationTemporality: 2,
      dataPoints: [
        {
          attributes: EVERY_KIND,
          ...times(now),
          count: '18446744073709551615',
          sum: -1.5,
          scale: -4,
          zeroCount: '5',
          positive: { offset: -3, bucketCounts: ['1', '300', '18446744073709551615'] },
          negative: { offset: 2, bucketCounts: ['9'] },
          flags: 1,
          exemplars: exemplars(now),
          min: -2,
          max: 3,
        },
      ],
    },
  },
  {
    ...named('a.summary'),
    summary: {
      dataPoints: [
        {
          ...times(now),
          count: '4',
          sum: 8,
          quantileValues: [
            { quantile: 0.5, value: 1 },
            { quantile: 0.99, value: 'Infinity' },
          ],
          attributes: EVERY_KIND,
          flags: 0,
        },
      ],
    },
  },
];

/** A request with all fields for each signal. */
export const createFullRequest = (signal: Signal, now: number): Json =>
  toRequest(signal, signal === 'metrics' ? everyMetric(now) : [signal === 'logs' ? logRecord(now) : span(now)]);
