import { writeAttributesIn } from './attributes.ts';
import type { AttributeKeys } from './distinct.ts';
import { eachItem, findBytes, findFixed64, writeId, writeTime } from './fields.ts';
import { LIMITS, reject } from './limits.ts';
import { BYTES, FIXED64, field, type ProtoReader, VARINT } from './proto-reader.ts';
import { Range, Ranges } from './ranges.ts';
import type { RowBuffer } from './row-buffer.ts';

const BUCKETS = { offset: field(1, VARINT), packedCounts: field(2, BYTES), count: field(2, VARINT) };
const EXEMPLAR = { time: 2, double: 3, spanId: 4, traceId: 5, int: 6, attributes: 7 };

/** A UInt64 or Float64: both are eight bytes in both formats. Zero if not set, as in the tables of the OpenTelemetry collector. */
export function writeFixed(reader: ProtoReader, start: number, end: number, number: number, out: RowBuffer): void {
  const at = findFixed64(reader, start, end, number);
  if (at === undefined) out.safeUint64(0);
  else out.copy(reader.bytes, at, at + 8);
}

/** The value of a number data point or an exemplar, which is a double or an integer. */
export function readNumber(reader: ProtoReader, start: number, end: number, double: number, int: number): number {
  const doubleAt = findFixed64(reader, start, end, double);
  if (doubleAt !== undefined) return reader.doubleAt(doubleAt);
  const intAt = findFixed64(reader, start, end, int);
  return intAt === undefined ? 0 : reader.int64At(intAt);
}

const chunks = new Ranges();

/** Repeated numbers of eight bytes, packed or one by one. */
export function writeFixedArray(reader: ProtoReader, start: number, end: number, number: number, out: RowBuffer): void {
  const [packed, single] = [field(number, BYTES), field(number, FIXED64)];
  chunks.clear();
  reader.pos = start;
  while (reader.pos < end) {
    const tag = reader.tag(end);
    if (tag === packed) chunks.add(reader, end);
    else if (tag === single) {
      const at = reader.fixed64(end);
      chunks.addRange(at, at + 8);
    } else reader.skip(tag, end);
  }
  const { length } = chunks;
  if (length % 8 !== 0) reject('its buckets are not numbers of 8 bytes');
  limitBuckets(length / 8);
  out.varint(length / 8);
  for (let index = 0; index < chunks.count; index++) out.copy(reader.bytes, chunks.start(index), chunks.end(index));
}

function limitBuckets(count: number): void {
  if (count > LIMITS.buckets) reject(`it has more than ${LIMITS.buckets} buckets`);
}

const found = new Range();

/** An offset and counts, which are varints. */
export function writeBuckets(reader: ProtoReader, start: number, end: number, out: RowBuffer): void {
  let offset = 0;
  const counts: bigint[] = [];
  const addCount = (to: number): void => {
    limitBuckets(counts.length + 1);
    counts.push(reader.varint64(to));
  };
  reader.pos = start;
  while (reader.pos < end) {
    const tag = reader.tag(end);
    if (tag === BUCKETS.offset) offset = fromZigzag(reader.varint32(end));
    else if (tag === BUCKETS.count) addCount(end);
    else if (tag === BUCKETS.packedCounts) for (const to = reader.contentEnd(end); reader.pos < to; ) addCount(to);
    else reader.skip(tag, end);
  }
  out.int32(offset);
  out.varint(counts.length);
  for (const count of counts) out.uint64(count);
}

export function findZigzag(reader: ProtoReader, start: number, end: number, wanted: number): number {
  let value = 0;
  reader.pos = start;
  while (reader.pos < end) {
    const tag = reader.tag(end);
    if (tag === wanted) value = fromZigzag(reader.varint32(end));
    else reader.skip(tag, end);
  }
  return value;
}

const fromZigzag = (value: number): number => (value >>> 1) ^ -(value & 1);

export function writeExemplars(reader: ProtoReader, exemplars: Ranges, out: RowBuffer, keys: AttributeKeys): void {
  const { bytes } = reader;
  eachItem(exemplars, out, (start, end) => writeAttributesIn(reader, start, end, EXEMPLAR.attributes, out, keys));
  eachItem(exemplars, out, (start, end) => writeTime(reader, findFixed64(reader, start, end, EXEMPLAR.time), out));
  eachItem(exemplars, out, (start, end) => out.double(readNumber(reader, start, end, EXEMPLAR.double, EXEMPLAR.int)));
  eachItem(exemplars, out, (start, end) =>
    writeId(out, bytes, findBytes(reader, start, end, EXEMPLAR.spanId, found), 8),
  );
  eachItem(exemplars, out, (start, end) =>
    writeId(out, bytes, findBytes(reader, start, end, EXEMPLAR.traceId, found), 16),
  );
}
