import { reject } from './limits.ts';
import { BYTES, FIXED64, field, type ProtoReader } from './proto-reader.ts';
import type { Range, Ranges } from './ranges.ts';
import type { RowBuffer } from './row-buffer.ts';

/** Fields of small messages, found one at a time: events, links and exemplars are few. */

/** The position of a 64-bit number; undefined if it is not set. */
export function findFixed64(reader: ProtoReader, start: number, end: number, number: number): number | undefined {
  const wanted = field(number, FIXED64);
  let at: number | undefined;
  reader.pos = start;
  while (reader.pos < end) {
    const tag = reader.tag(end);
    if (tag === wanted) at = reader.fixed64(end);
    else reader.skip(tag, end);
  }
  return at;
}

/** Sets `into` to the contents of a field; to nothing if it is not set. */
export function findBytes(reader: ProtoReader, start: number, end: number, number: number, into: Range): Range {
  const wanted = field(number, BYTES);
  into.clear();
  reader.pos = start;
  while (reader.pos < end) {
    const tag = reader.tag(end);
    if (tag === wanted) into.set(reader, end);
    else reader.skip(tag, end);
  }
  return into;
}

/** An id of another length is not one: the record belongs to no trace. */
export function writeId(out: RowBuffer, bytes: Buffer, { start, end }: Range, size: number): void {
  if (end - start === size) out.hex(bytes, start, end);
  else out.emptyString();
}

/** An Array with one element per item. */
export function eachItem(items: Ranges, out: RowBuffer, write: (start: number, end: number) => void): void {
  out.varint(items.count);
  for (let index = 0; index < items.count; index++) write(items.start(index), items.end(index));
}

/** The largest time that fits into a signed number of nanoseconds is in the year 2262. */
export function writeTime(reader: ProtoReader, at: number | undefined, out: RowBuffer): void {
  if (at === undefined) out.safeUint64(0);
  else if ((reader.bytes[at + 7] as number) > 0x7f) reject('a time in it is after the year 2262');
  else out.copy(reader.bytes, at, at + 8);
}
