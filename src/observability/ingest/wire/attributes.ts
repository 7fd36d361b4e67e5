import { findPair, writeValue } from './any-value.ts';
import { LIMITS, reject } from './limits.ts';
import { BYTES, field, type ProtoReader } from './proto-reader.ts';
import { Ranges } from './ranges.ts';
import type { RowBuffer } from './row-buffer.ts';

/** Writes KeyValues as a Map. A key that is sent twice is stored twice; queries find the first. */
export function writeAttributes(reader: ProtoReader, attributes: Ranges, out: RowBuffer): void {
  const { count } = attributes;
  if (count > LIMITS.attributes) reject(`it has more than ${LIMITS.attributes} attributes`);
  out.varint(count);
  for (let index = 0; index < count; index++) {
    const { keyStart, keyEnd, valueStart, valueEnd } = findPair(reader, attributes.start(index), attributes.end(index));
    if (keyEnd - keyStart > LIMITS.keyBytes) reject(`the key of an attribute is longer than ${LIMITS.keyBytes} bytes`);
    out.string(reader.bytes, keyStart, keyEnd);
    writeValue(reader, valueStart, valueEnd, out);
  }
}

const found = new Ranges();

/** Writes the repeated KeyValues in a small message, such as an event, as a Map. */
export function writeAttributesIn(
  reader: ProtoReader,
  start: number,
  end: number,
  number: number,
  out: RowBuffer,
): void {
  const wanted = field(number, BYTES);
  found.clear();
  reader.pos = start;
  while (reader.pos < end) {
    const tag = reader.tag(end);
    if (tag === wanted) found.add(reader, end);
    else reader.skip(tag, end);
  }
  writeAttributes(reader, found, out);
}
