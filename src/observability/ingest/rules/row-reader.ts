import type { Signal } from '../wire/otlp-messages.ts';
import type { RowBuffer } from '../wire/row-buffer.ts';
import { ROW_COLUMNS } from './columns.ts';

const NOTHING: Buffer = Buffer.alloc(0);

/** Reads columns of the last row of a buffer. Each is decoded at most once, when a condition needs it. */
export class RowReader {
  private bytes = NOTHING;
  private pos = 0;
  private readonly starts: number[];
  private readonly decoded: unknown[];
  private next = 0;
  private readonly columns: (typeof ROW_COLUMNS)[Signal];

  constructor(signal: Signal) {
    this.columns = ROW_COLUMNS[signal];
    this.starts = this.columns.map(() => 0);
    this.decoded = this.columns.map(() => undefined);
  }

  open({ bytes, committed }: RowBuffer): void {
    this.bytes = bytes;
    this.pos = committed;
    this.next = 0;
    this.decoded.fill(undefined);
  }

  /** The memory of the rows may be freed. */
  close(): void {
    this.bytes = NOTHING;
    this.decoded.fill(undefined);
  }

  indexOf(name: string): number {
    return this.columns.findIndex((column) => column.name === name);
  }

  /** The column as a string, a number (a bigint if it is not a safe integer) or entries of a map. */
  read(index: number): unknown {
    this.decoded[index] ??= this.decode(index);
    return this.decoded[index];
  }

  /** The bytes of a column as they are stored. */
  range(index: number): readonly [bytes: Buffer, start: number, end: number] {
    const start = this.find(index);
    this.skip(index);
    return [this.bytes, start, this.pos];
  }

  private find(index: number): number {
    if (index < this.next) {
      this.pos = this.starts[index] as number;
      return this.pos;
    }
    if (this.next > 0) {
      this.pos = this.starts[this.next - 1] as number;
      this.skip(this.next - 1);
    }
    for (; this.next < index; this.next++) {
      this.starts[this.next] = this.pos;
      this.skip(this.next);
    }
    this.starts[index] = this.pos;
    this.next = index + 1;
    return this.pos;
  }

  private skip(index: number): void {
    switch (this.columns[index]?.encoding) {
      case 'uint8':
        this.pos += 1;
        break;
      case 'uint32':
        this.pos += 4;
        break;
      case 'uint64':
      case 'time':
        this.pos += 8;
        break;
      case 'map':
        for (let rest = 2 * this.varint(); rest > 0; rest--) this.skipText();
        break;
      default:
        this.skipText();
    }
  }

  private decode(index: number): unknown {
    const at = this.find(index);
    switch (this.columns[index]?.encoding) {
      case 'uint8':
        return this.bytes[at];
      case 'uint32':
        return this.bytes.readUInt32LE(at);
      case 'uint64':
      case 'time':
        return toNumber(this.bytes.readBigUInt64LE(at));
      case 'map':
        return Array.from({ length: this.varint() }, () => [this.text(), this.text()] as const);
      default:
        return this.text();
    }
  }

  private varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.pos++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  private skipText(): void {
    // Not `+=`, which would read the position before the length moves it.
    const length = this.varint();
    this.pos += length;
  }

  private text(): string {
    const length = this.varint();
    this.pos += length;
    return this.bytes.toString('latin1', this.pos - length, this.pos);
  }
}

const toNumber = (value: bigint): number | bigint => (value <= Number.MAX_SAFE_INTEGER ? Number(value) : value);
