import type { TableKind } from '../../own-telemetry/rows.ts';
import { writeAttributes } from './attributes.ts';
import type { Batch } from './batch.ts';
import { eachItem, findBytes, writeTime } from './fields.ts';
import { LIMITS, reject } from './limits.ts';
import { findZigzag, readNumber, writeBuckets, writeExemplars, writeFixed, writeFixedArray } from './point-fields.ts';
import { BYTES, FIXED64, field, type ProtoReader, VARINT } from './proto-reader.ts';
import { Range, Ranges } from './ranges.ts';
import { ORIGIN_COLUMNS } from './request.ts';
import type { RowBuffer } from './row-buffer.ts';
import { hashBytes } from './shared-hashes.ts';

/** The data points of a metric, and what they have in common. */
export interface Points {
  table: TableKind;
  /** `COMMON_COLUMNS` up to the unit, encoded. */
  prefix: Buffer;
  /** The hash of what its streams have in common. */
  seed: number;
  items: Ranges;
  temporality: number;
  isMonotonic: number;
}

/** In the order in which a row is written. */
export const COMMON_COLUMNS = [
  ...ORIGIN_COLUMNS,
  'ScopeDroppedAttrCount',
  'MetricName',
  'MetricDescription',
  'MetricUnit',
  'StartTimeUnix',
  'TimeUnix',
  'Attributes',
  'Flags',
] as const;

const EXEMPLAR_COLUMNS = [
  'Exemplars.FilteredAttributes',
  'Exemplars.TimeUnix',
  'Exemplars.Value',
  'Exemplars.SpanId',
  'Exemplars.TraceId',
] as const;

/** After the common ones. */
export const POINT_COLUMNS = {
  gauge: ['Value', ...EXEMPLAR_COLUMNS],
  sum: ['Value', 'AggregationTemporality', 'IsMonotonic', ...EXEMPLAR_COLUMNS],
  histogram: [
    'Count',
    'Sum',
    'Min',
    'Max',
    'BucketCounts',
    'ExplicitBounds',
    'AggregationTemporality',
    ...EXEMPLAR_COLUMNS,
  ],
  exponentialHistogram: [
    'Count',
    'Sum',
    'Min',
    'Max',
    'Scale',
    'ZeroCount',
    'PositiveOffset',
    'PositiveBucketCounts',
    'NegativeOffset',
    'NegativeBucketCounts',
    'AggregationTemporality',
    ...EXEMPLAR_COLUMNS,
  ],
  summary: ['Count', 'Sum', 'ValueAtQuantiles.Quantile', 'ValueAtQuantiles.Value'],
} as const;

/** The numbers of the fields that all kinds of data points have. */
interface Numbers {
  attributes: number;
  start: number;
  time: number;
  flags: number;
  exemplars: number;
}

const NUMBER = { start: 2, time: 3, double: 4, exemplars: 5, int: 6, attributes: 7, flags: 8 };
const HISTOGRAM = {
  start: 2,
  time: 3,
  count: 4,
  sum: 5,
  counts: 6,
  bounds: 7,
  exemplars: 8,
  attributes: 9,
  flags: 10,
  min: 11,
  max: 12,
};
const EXPONENTIAL = {
  attributes: 1,
  start: 2,
  time: 3,
  count: 4,
  sum: 5,
  scale: 6,
  zeroCount: 7,
  positive: 8,
  negative: 9,
  flags: 10,
  exemplars: 11,
  min: 12,
  max: 13,
};
const SUMMARY = { start: 2, time: 3, count: 4, sum: 5, quantiles: 6, attributes: 7, flags: 8, exemplars: 0 };
const QUANTILE = { quantile: 1, value: 2 };

const found = new Range();
const attributes = new Ranges();
const exemplars = new Ranges();

/** Writes the columns that all kinds have, and finds the exemplars. */
function writeCommon(
  reader: ProtoReader,
  batch: Batch,
  { table, prefix, seed }: Points,
  numbers: Numbers,
  start: number,
  end: number,
): RowBuffer {
  const tags = {
    attributes: field(numbers.attributes, BYTES),
    exemplars: field(numbers.exemplars, BYTES),
    start: field(numbers.start, FIXED64),
    time: field(numbers.time, FIXED64),
    flags: field(numbers.flags, VARINT),
  };
  attributes.clear();
  exemplars.clear();
  let [startTime, time]: (number | undefined)[] = [];
  let flags = 0;
  reader.pos = start;
  while (reader.pos < end) {
    const tag = reader.tag(end);
    if (tag === tags.attributes) attributes.add(reader, end);
    else if (tag === tags.exemplars) exemplars.add(reader, end);
    else if (tag === tags.time) time = reader.fixed64(end);
    else if (tag === tags.start) startTime = reader.fixed64(end);
    else if (tag === tags.flags) flags = reader.varint32(end);
    else reader.skip(tag, end);
  }
  if (time === undefined) reject('it has no time');
  if (exemplars.count > LIMITS.items) reject(`it has more than ${LIMITS.items} exemplars`);
  if (batch.streams.isLimited) batch.stream = hashStream(reader, seed);
  const out = batch.rowsAt(table, reader.uint64At(time));
  out.copy(prefix, 0, prefix.length);
  writeTime(reader, startTime, out);
  writeTime(reader, time, out);
  writeAttributes(reader, attributes, out, batch.keys);
  out.uint32(flags);
  return out;
}

/** Of the attributes that were found last, in any order. */
function hashStream({ bytes }: ProtoReader, seed: number): number {
  let sum = seed;
  for (let index = 0; index < attributes.count; index++)
    sum = (sum + hashBytes(bytes, attributes.start(index), attributes.end(index))) | 0;
  return sum;
}

export function writeNumber(reader: ProtoReader, batch: Batch, points: Points, start: number, end: number): RowBuffer {
  const out = writeCommon(reader, batch, points, NUMBER, start, end);
  out.double(readNumber(reader, start, end, NUMBER.double, NUMBER.int));
  if (points.table === 'sum') {
    out.int32(points.temporality);
    out.uint8(points.isMonotonic);
  }
  writeExemplars(reader, exemplars, out, batch.keys);
  return out;
}

export function writeHistogram(
  reader: ProtoReader,
  batch: Batch,
  points: Points,
  start: number,
  end: number,
): RowBuffer {
  const out = writeCommon(reader, batch, points, HISTOGRAM, start, end);
  writeTotals(reader, start, end, HISTOGRAM, out);
  writeFixed(reader, start, end, HISTOGRAM.min, out);
  writeFixed(reader, start, end, HISTOGRAM.max, out);
  writeFixedArray(reader, start, end, HISTOGRAM.counts, out);
  writeFixedArray(reader, start, end, HISTOGRAM.bounds, out);
  out.int32(points.temporality);
  writeExemplars(reader, exemplars, out, batch.keys);
  return out;
}

export function writeExponential(
  reader: ProtoReader,
  batch: Batch,
  points: Points,
  start: number,
  end: number,
): RowBuffer {
  const out = writeCommon(reader, batch, points, EXPONENTIAL, start, end);
  writeTotals(reader, start, end, EXPONENTIAL, out);
  writeFixed(reader, start, end, EXPONENTIAL.min, out);
  writeFixed(reader, start, end, EXPONENTIAL.max, out);
  out.int32(findZigzag(reader, start, end, field(EXPONENTIAL.scale, VARINT)));
  writeFixed(reader, start, end, EXPONENTIAL.zeroCount, out);
  for (const number of [EXPONENTIAL.positive, EXPONENTIAL.negative]) {
    const buckets = findBytes(reader, start, end, number, found);
    writeBuckets(reader, buckets.start, buckets.end, out);
  }
  out.int32(points.temporality);
  writeExemplars(reader, exemplars, out, batch.keys);
  return out;
}

export function writeSummary(reader: ProtoReader, batch: Batch, points: Points, start: number, end: number): RowBuffer {
  const out = writeCommon(reader, batch, points, SUMMARY, start, end);
  writeTotals(reader, start, end, SUMMARY, out);
  const quantiles = new Ranges();
  reader.pos = start;
  while (reader.pos < end) {
    const tag = reader.tag(end);
    if (tag === field(SUMMARY.quantiles, BYTES)) quantiles.add(reader, end);
    else reader.skip(tag, end);
  }
  if (quantiles.count > LIMITS.items) reject(`it has more than ${LIMITS.items} quantiles`);
  eachItem(quantiles, out, (from, to) => writeFixed(reader, from, to, QUANTILE.quantile, out));
  eachItem(quantiles, out, (from, to) => writeFixed(reader, from, to, QUANTILE.value, out));
  return out;
}

function writeTotals(
  reader: ProtoReader,
  start: number,
  end: number,
  { count, sum }: { count: number; sum: number },
  out: RowBuffer,
): void {
  writeFixed(reader, start, end, count, out);
  writeFixed(reader, start, end, sum, out);
}
