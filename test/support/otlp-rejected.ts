import type { Signal } from '../../src/observability/ingest/wire/otlp-messages.ts';
import type { Json } from './client.ts';
import { logRecord, numberPoint, span, text, toNanos } from './otlp-requests.ts';

const DAY_MS = 86_400_000;
const KIB = 1024;

const repeat = <T>(count: number, create: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => create(at));
const manyAttributes = { attributes: repeat(1025, (index) => text(`k${index}`, 'v')) };
const longKey = { attributes: [text('k'.repeat(1025), 'v')] };
const longValue = { attributes: [text('k', 'v'.repeat(256 * KIB + 1))] };
const largeRecord = { attributes: repeat(5, (index) => text(`k${index}`, 'v'.repeat(250 * KIB))) };

/** A list in a list in a list. */
function nest(levels: number): object {
  return levels === 0 ? { stringValue: 'x' } : { arrayValue: { values: [nest(levels - 1)] } };
}
export const atDepth = (levels: number): object => ({ attributes: [{ key: 'deep', value: nest(levels) }] });

interface RejectedRecord {
  reason: string;
  record: Json;
}

const gauge = (more: object, now: number, name = 'bad') => ({ name, gauge: { dataPoints: [numberPoint(now, more)] } });
const times = (now: number) => ({ timeUnixNano: toNanos(now), startTimeUnixNano: toNanos(now) });

/** Records that are rejected, one for each rule, and what the response says about it. `retentionDays` is that of the server. */
export function listRejected(signal: Signal, now: number, retentionDays: number): RejectedRecord[] {
  const old = now - (retentionDays + 1) * DAY_MS;
  const future = now + 25 * 3_600_000;
  if (signal === 'logs')
    return [
      { reason: 'its time is before the retention', record: logRecord(old) },
      { reason: 'more than a day in the future', record: logRecord(future) },
      { reason: 'more than 1024 attributes', record: logRecord(now, manyAttributes) },
      { reason: 'longer than 1024 bytes', record: logRecord(now, longKey) },
      { reason: 'a value is larger than 256 KiB', record: logRecord(now, longValue) },
      { reason: 'nested more than 16 levels deep', record: logRecord(now, atDepth(17)) },
      { reason: 'nested more than 16 levels deep', record: logRecord(now, { body: nest(25) }) },
      { reason: 'it is larger than 1024 KiB', record: logRecord(now, largeRecord) },
      { reason: 'more than a day in the future', record: logRecord(now, { timeUnixNano: '18446744073709551615' }) },
    ];
  if (signal === 'traces')
    return [
      { reason: 'its time is before the retention', record: span(old) },
      { reason: 'more than a day in the future', record: span(future) },
      { reason: 'its trace id must have 16 bytes', record: span(now, { traceId: 'ab'.repeat(15) }) },
      { reason: 'its trace id must have 16 bytes', record: span(now, { traceId: '00'.repeat(16) }) },
      { reason: 'its span id must have 8 bytes', record: span(now, { spanId: 'ab'.repeat(9) }) },
      { reason: 'its span id must have 8 bytes', record: span(now, { spanId: '' }) },
      { reason: 'its parent span id must be empty', record: span(now, { parentSpanId: 'ab' }) },
      { reason: 'it ends before it starts', record: span(now, { endTimeUnixNano: toNanos(now - 1) }) },
      { reason: 'it has no start time', record: span(now, { startTimeUnixNano: undefined }) },
      { reason: 'it has no end time', record: span(now, { endTimeUnixNano: undefined }) },
      { reason: 'more than 1024 attributes', record: span(now, manyAttributes) },
      { reason: 'more than 1024 attributes', record: span(now, { events: [manyAttributes] }) },
      { reason: 'longer than 1024 bytes', record: span(now, { links: [longKey] }) },
      { reason: 'nested more than 16 levels deep', record: span(now, { events: [atDepth(17)] }) },
      { reason: 'more than 1024 events', record: span(now, { events: repeat(1025, () => ({})) }) },
      { reason: 'more than 1024 links', record: span(now, { links: repeat(1025, () => ({})) }) },
      { reason: 'after the year 2262', record: span(now, { events: [{ timeUnixNano: '9223372036854775808' }] }) },
      { reason: 'it is larger than 1024 KiB', record: span(now, largeRecord) },
    ];
  return [
    { reason: 'its time is before the retention', record: gauge({ timeUnixNano: toNanos(old) }, now) },
    { reason: 'more than a day in the future', record: gauge({ timeUnixNano: toNanos(future) }, now) },
    { reason: 'it has no time', record: gauge({ timeUnixNano: undefined }, now) },
    { reason: 'more than 1024 attributes', record: gauge(manyAttributes, now) },
    { reason: 'more than 1024 exemplars', record: gauge({ exemplars: repeat(1025, () => ({})) }, now) },
    {
      reason: 'more than 1024 attributes',
      record: gauge({ exemplars: [{ filteredAttributes: manyAttributes.attributes }] }, now),
    },
    { reason: 'after the year 2262', record: gauge({ startTimeUnixNano: '9223372036854775808' }, now) },
    { reason: 'name, description or unit of its metric is longer', record: gauge({}, now, 'n'.repeat(1025)) },
    {
      reason: 'more than 10000 buckets',
      record: { name: 'h', histogram: { dataPoints: [{ ...times(now), bucketCounts: repeat(10_001, () => '1') }] } },
    },
    {
      reason: 'more than 10000 buckets',
      record: {
        name: 'e',
        exponentialHistogram: {
          dataPoints: [{ ...times(now), positive: { bucketCounts: repeat(10_001, () => '1') } }],
        },
      },
    },
    {
      reason: 'more than 1024 quantiles',
      record: { name: 's', summary: { dataPoints: [{ ...times(now), quantileValues: repeat(1025, () => ({})) }] } },
    },
  ];
}

/** A record that is stored. */
export function createValid(signal: Signal, now: number): Json {
  if (signal === 'logs') return logRecord(now);
  return signal === 'traces' ? span(now) : gauge({}, now, 'good');
}

/** Attributes of a resource or a scope that are too large together. */
export const LARGE_SHARED = repeat(5, (index) => text(`k${index}`, 'v'.repeat(14 * KIB)));
