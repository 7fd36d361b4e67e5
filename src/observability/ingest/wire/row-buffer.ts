/** The rows of a request need more memory than a request may use. */
export class TooManyBytes extends Error {}

/** The memory that all buffers of a request share. */
export interface Budget {
  bytes: number;
}

const FIRST_BYTES = 16 * 1024;
/** Below this length, a loop is faster than a call of `copy`. */
const SHORT_BYTES = 24;

/** Two hexadecimal digits for each byte, as their character codes. */
const HEX = Uint8Array.from({ length: 512 }, (_, index) => {
  const digit = index & 1 ? (index >> 1) & 15 : index >> 5;
  return '0123456789abcdef'.charCodeAt(digit);
});

/** A growing buffer of rows in ClickHouse's format RowBinary. */
export class RowBuffer {
  bytes: Buffer;
  length = 0;
  rows = 0;
  /** The end of the last complete row. */
  committed = 0;
  private readonly budget: Budget;

  constructor(budget: Budget) {
    this.budget = budget;
    this.bytes = this.allocate(FIRST_BYTES);
  }

  private allocate(count: number): Buffer {
    this.budget.bytes -= count;
    if (this.budget.bytes < 0) throw new TooManyBytes();
    return Buffer.allocUnsafeSlow(count);
  }

  private reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const grown = this.allocate(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(grown, 0, 0, this.length);
    this.budget.bytes += this.bytes.length;
    this.bytes = grown;
  }

  /** A copy of what was written. */
  take(): Buffer {
    return Buffer.from(this.bytes.subarray(0, this.length));
  }

  copy(source: Buffer, start: number, end: number): void {
    const count = end - start;
    this.reserve(count);
    if (count <= SHORT_BYTES) {
      const { bytes } = this;
      let to = this.length;
      for (let from = start; from < end; from++) bytes[to++] = source[from] as number;
    } else source.copy(this.bytes, this.length, start, end);
    this.length += count;
  }

  uint8(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  uint32(value: number): void {
    this.reserve(4);
    this.length = this.bytes.writeUInt32LE(value >>> 0, this.length);
  }

  int32(value: number): void {
    this.reserve(4);
    this.length = this.bytes.writeInt32LE(value | 0, this.length);
  }

  uint64(value: bigint): void {
    this.reserve(8);
    this.length = this.bytes.writeBigUInt64LE(value, this.length);
  }

  /** An integer that a double represents exactly. */
  safeUint64(value: number): void {
    this.reserve(8);
    this.bytes.writeUInt32LE(value % 0x1_0000_0000, this.length);
    this.length = this.bytes.writeUInt32LE(Math.floor(value / 0x1_0000_0000), this.length + 4);
  }

  double(value: number): void {
    this.reserve(8);
    this.length = this.bytes.writeDoubleLE(value, this.length);
  }

  varint(value: number): void {
    this.reserve(5);
    let rest = value;
    while (rest > 0x7f) {
      this.bytes[this.length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.length++] = rest;
  }

  /** Writes a smaller number in place of a varint, with as many bytes. */
  overwriteVarint(start: number, end: number, value: number): void {
    let rest = value;
    for (let at = start; at < end; at++, rest >>>= 7) this.bytes[at] = (rest & 0x7f) | (at < end - 1 ? 0x80 : 0);
  }

  /** A String from bytes of the request. */
  string(source: Buffer, start: number, end: number): void {
    this.varint(end - start);
    this.copy(source, start, end);
  }

  text(value: string): void {
    if (value.length <= SHORT_BYTES && this.shortAscii(value)) return;
    const count = Buffer.byteLength(value);
    this.varint(count);
    this.reserve(count);
    this.length += this.bytes.write(value, this.length, 'utf8');
  }

  /** False, and nothing written, if the text is not ASCII. */
  private shortAscii(value: string): boolean {
    const { length } = value;
    this.reserve(1 + length);
    const { bytes } = this;
    let to = this.length;
    bytes[to++] = length;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return false;
      bytes[to++] = code;
    }
    this.length = to;
    return true;
  }

  emptyString(): void {
    this.uint8(0);
  }

  /** An id as a String of hexadecimal digits; empty if all of its bytes are zero. */
  hex(source: Buffer, start: number, end: number): void {
    if (isZero(source, start, end)) {
      this.emptyString();
      return;
    }
    this.varint((end - start) * 2);
    this.reserve((end - start) * 2);
    for (let at = start; at < end; at++) {
      const byte = source[at] as number;
      this.bytes[this.length++] = HEX[byte * 2] as number;
      this.bytes[this.length++] = HEX[byte * 2 + 1] as number;
    }
  }
}

export function isZero(source: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (source[at] !== 0) return false;
  return true;
}
