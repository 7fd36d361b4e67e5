/** The request is not a valid protobuf message. Nothing of it is stored. */
export class MalformedMessage extends Error {}

export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
export const FIXED32 = 5;

/** A field of a message with its wire type, as it is on the wire. */
export const field = (number: number, type: number): number => number * 8 + type;

/** Groups nest without a length. OTLP has none; unknown fields may. */
const START_GROUP = 3;
const END_GROUP = 4;
const MAX_GROUP_DEPTH = 16;

/**
 * Reads protobuf messages in place, without building objects. A message is a range of the bytes: `pos` is the next field, and
 * every read gets the end of its message and is checked against it. Readers such as `pbf` return zeros past the end.
 */
export class ProtoReader {
  readonly bytes: Buffer;
  pos = 0;
  private readonly view: DataView;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  private byte(end: number): number {
    if (this.pos >= end) tooShort();
    return this.bytes[this.pos++] as number;
  }

  /** A varint as a 32-bit unsigned integer. Higher bits are dropped, as protobuf specifies for 32-bit fields. */
  varint32(end: number): number {
    let byte = this.byte(end);
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let shift = 7; shift < 70; shift += 7) {
      byte = this.byte(end);
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new MalformedMessage('a number has more than 10 bytes');
  }

  varint64(end: number): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte(end);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new MalformedMessage('a number has more than 10 bytes');
  }

  /** The number and wire type of the next field. */
  tag(end: number): number {
    const tag = this.varint32(end);
    if (tag < 8) throw new MalformedMessage('a field has the number 0');
    return tag;
  }

  /** Reads the length of a field; returns the end of its contents, which start at `pos`. */
  contentEnd(end: number): number {
    const length = this.varint32(end);
    if (length > end - this.pos) throw new MalformedMessage('a field is longer than its message');
    return this.pos + length;
  }

  /** Skips a number of 64 bits; returns its position. */
  fixed64(end: number): number {
    const at = this.pos;
    this.pos += 8;
    if (this.pos > end) tooShort();
    return at;
  }

  fixed32(end: number): number {
    const at = this.pos;
    this.pos += 4;
    if (this.pos > end) tooShort();
    return this.view.getUint32(at, true);
  }

  doubleAt(at: number): number {
    return this.view.getFloat64(at, true);
  }

  /** Exact up to 2^53. */
  uint64At(at: number): number {
    return this.view.getUint32(at + 4, true) * 0x1_0000_0000 + this.view.getUint32(at, true);
  }

  /** Exact up to 2^53. */
  int64At(at: number): number {
    return this.view.getInt32(at + 4, true) * 0x1_0000_0000 + this.view.getUint32(at, true);
  }

  text(start: number, end: number): string {
    return this.bytes.toString('utf8', start, end);
  }

  /** Skips a field that is unknown, or whose wire type is not the expected one. */
  skip(tag: number, end: number, depth = 0): void {
    switch (tag & 7) {
      case VARINT:
        this.varint32(end);
        break;
      case FIXED64:
        this.fixed64(end);
        break;
      case BYTES:
        this.pos = this.contentEnd(end);
        break;
      case FIXED32:
        this.fixed32(end);
        break;
      case START_GROUP:
        this.skipGroup(tag >>> 3, end, depth);
        break;
      default:
        throw new MalformedMessage(`a field has the wire type ${tag & 7}`);
    }
  }

  private skipGroup(number: number, end: number, depth: number): void {
    if (depth >= MAX_GROUP_DEPTH)
      throw new MalformedMessage(`groups are nested more than ${MAX_GROUP_DEPTH} levels deep`);
    for (;;) {
      const tag = this.tag(end);
      if ((tag & 7) !== END_GROUP) this.skip(tag, end, depth + 1);
      else if (tag >>> 3 === number) return;
      else throw new MalformedMessage('a group ends with the wrong number');
    }
  }
}

function tooShort(): never {
  throw new MalformedMessage('the message ends in the middle of a field');
}
