import { findPair, writeValue } from './any-value.ts';
import type { AttributeKeys } from './distinct.ts';
import { LIMITS, reject } from './limits.ts';
import { BYTES, field, type ProtoReader } from './proto-reader.ts';
import { Ranges } from './ranges.ts';
import type { RowBuffer } from './row-buffer.ts';

/**
 * Writes KeyValues as a Map. A key that is sent twice is stored twice; queries find the first. Attributes with a key beyond the limit of
 * keys are left out.
 */
export function writeAttributes(reader: ProtoReader, attributes: Ranges, out: RowBuffer, keys: AttributeKeys): void {
  const { count } = attributes;
  if (count > LIMITS.attributes) reject(`it has more than ${LIMITS.attributes} attributes`);
  const countAt = out.length;
  out.varint(count);
  const countEnd = out.length;
  let removed = 0;
  for (let index = 0; index < count; index++) {
    const { keyStart, keyEnd, valueStart, valueEnd } = findPair(reader, attributes.start(index), attributes.end(index));
    if (keyEnd - keyStart > LIMITS.keyBytes) reject(`the key of an attribute is longer than ${LIMITS.keyBytes} bytes`);
    if (!keys.admits(reader.bytes, keyStart, keyEnd)) {
      keys.remove(reader.text(keyStart, keyEnd), attributes.end(index) - attributes.start(index));
      removed++;
      continue;
    }
    out.string(reader.bytes, keyStart, keyEnd);
    writeValue(reader, valueStart, valueEnd, out);
  }
  if (removed > 0) out.overwriteVarint(countAt, countEnd, count - removed);
}

const found = new Ranges();

/** Writes the repeated KeyValues in a small message, such as an event, as a Map. */
export function writeAttributesIn(
  reader: ProtoReader,
  start: number,
  end: number,
  number: number,
  out: RowBuffer,
  keys: AttributeKeys,
): void {
  const wanted = field(number, BYTES);
  found.clear();
  reader.pos = start;
  while (reader.pos < end) {
    const tag = reader.tag(end);
    if (tag === wanted) found.add(reader, end);
    else reader.skip(tag, end);
  }
  writeAttributes(reader, found, out, keys);
}
