import { LIMITS, reject } from './limits.ts';
import { BYTES, FIXED64, field, type ProtoReader, VARINT } from './proto-reader.ts';
import { eachField } from './ranges.ts';
import type { RowBuffer } from './row-buffer.ts';

const STRING = field(1, BYTES);
const BOOL = field(2, VARINT);
const INT = field(3, VARINT);
const DOUBLE = field(4, FIXED64);
const ARRAY = field(5, BYTES);
const MAP = field(6, BYTES);
const RAW = field(7, BYTES);

const ITEM = field(1, BYTES);
const KEY = field(1, BYTES);
const VALUE = field(2, BYTES);

/** What an AnyValue contains: the tag of the field that was set last, 0 if none was, and its contents. */
interface Found {
  tag: number;
  start: number;
  end: number;
}

/**
 * Writes an AnyValue as a String: text as it is, numbers in decimal, bytes in base64, arrays and maps as JSON. A value that
 * is not set is empty.
 */
export function writeValue(reader: ProtoReader, start: number, end: number, out: RowBuffer): void {
  const found = findValue(reader, start, end);
  if (found.end - found.start > LIMITS.valueBytes) tooLarge();
  if (found.tag === STRING) out.string(reader.bytes, found.start, found.end);
  else out.text(toText(reader, found));
}

/** The beginning of a value, for a sample of a record that may be rejected because of it. */
export function previewValue(reader: ProtoReader, start: number, end: number, maxBytes: number): string {
  const found = findValue(reader, start, end);
  if (found.tag === ARRAY) return 'a list';
  if (found.tag === MAP) return 'a map';
  const shown = { ...found, end: Math.min(found.end, found.start + maxBytes) };
  return JSON.stringify(found.tag === STRING ? reader.text(shown.start, shown.end) : toText(reader, shown));
}

const tooLarge = (): never => reject(`a value is larger than ${LIMITS.valueBytes / 1024} KiB`);

/** The text of a value that is not a string. */
function toText(reader: ProtoReader, found: Found): string {
  const { tag, start, end } = found;
  switch (tag) {
    case 0:
      return '';
    case BOOL:
      return readInt(reader, start, end) === 0n ? 'false' : 'true';
    case INT:
      return String(BigInt.asIntN(64, readInt(reader, start, end)));
    case DOUBLE:
      return String(reader.doubleAt(start));
    case RAW:
      return reader.bytes.toString('base64', start, end);
    default: {
      const json = toJson(reader, found, 1);
      return json.length > LIMITS.valueBytes ? tooLarge() : json;
    }
  }
}

function readInt(reader: ProtoReader, start: number, end: number): bigint {
  reader.pos = start;
  return reader.varint64(end);
}

function findValue(reader: ProtoReader, start: number, end: number): Found {
  const found: Found = { tag: 0, start, end: start };
  reader.pos = start;
  while (reader.pos < end) {
    const tag = reader.tag(end);
    let from = reader.pos;
    if (tag === STRING || tag === RAW || tag === ARRAY || tag === MAP) {
      const contentEnd = reader.contentEnd(end);
      from = reader.pos;
      reader.pos = contentEnd;
    } else {
      reader.skip(tag, end);
      if (tag !== BOOL && tag !== INT && tag !== DOUBLE) continue;
    }
    found.tag = tag;
    found.start = from;
    found.end = reader.pos;
  }
  return found;
}

function toJson(reader: ProtoReader, found: Found, depth: number): string {
  const { tag, start, end } = found;
  if (depth > LIMITS.depth) reject(`a value is nested more than ${LIMITS.depth} levels deep`);
  if (tag === ARRAY) return `[${mapItems(reader, found, (from, to) => item(from, to)).join(',')}]`;
  if (tag === MAP) return `{${mapItems(reader, found, member).join(',')}}`;
  if (tag === 0) return 'null';
  if (tag === STRING) return JSON.stringify(reader.text(start, end));
  const text = toText(reader, found);
  const isLiteral = tag !== RAW && (tag !== DOUBLE || Number.isFinite(reader.doubleAt(start)));
  return isLiteral ? text : JSON.stringify(text);

  function item(from: number, to: number): string {
    return toJson(reader, findValue(reader, from, to), depth + 1);
  }

  function member(from: number, to: number): string {
    const { keyStart, keyEnd, valueStart, valueEnd } = findPair(reader, from, to);
    return `${JSON.stringify(reader.text(keyStart, keyEnd))}:${item(valueStart, valueEnd)}`;
  }
}

function mapItems<T>(reader: ProtoReader, { start, end }: Found, convert: (start: number, end: number) => T): T[] {
  const items: T[] = [];
  eachField(reader, start, end, ITEM, (from, to) => items.push(convert(from, to)));
  return items;
}

/** The parts of a KeyValue. The object is reused: its members change with the next call of `findPair`. */
const pair = { keyStart: 0, keyEnd: 0, valueStart: 0, valueEnd: 0 };

export function findPair(reader: ProtoReader, start: number, end: number): Readonly<typeof pair> {
  pair.keyStart = pair.keyEnd = pair.valueStart = pair.valueEnd = start;
  reader.pos = start;
  while (reader.pos < end) {
    const tag = reader.tag(end);
    if (tag !== KEY && tag !== VALUE) {
      reader.skip(tag, end);
      continue;
    }
    const contentEnd = reader.contentEnd(end);
    if (tag === KEY) {
      pair.keyStart = reader.pos;
      pair.keyEnd = contentEnd;
    } else {
      pair.valueStart = reader.pos;
      pair.valueEnd = contentEnd;
    }
    reader.pos = contentEnd;
  }
  return pair;
}
