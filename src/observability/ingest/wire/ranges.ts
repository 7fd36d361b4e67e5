import { LIMITS, TooManyParts } from './limits.ts';
import { MalformedMessage, type ProtoReader } from './proto-reader.ts';

/** The positions of a repeated field. Reused for many records, so that reading one allocates nothing. */
export class Ranges {
  private positions = new Int32Array(64);
  count = 0;

  clear(): void {
    this.count = 0;
  }

  /** Adds the contents of the field that the reader is at, and moves past it. */
  add(reader: ProtoReader, end: number): void {
    const contentEnd = reader.contentEnd(end);
    this.addRange(reader.pos, contentEnd);
    reader.pos = contentEnd;
  }

  addRange(start: number, end: number): void {
    if (this.count * 2 === this.positions.length) {
      if (this.count >= LIMITS.parts) throw new TooManyParts();
      const grown = new Int32Array(this.positions.length * 2);
      grown.set(this.positions);
      this.positions = grown;
    }
    this.positions[this.count * 2] = start;
    this.positions[this.count * 2 + 1] = end;
    this.count++;
  }

  /** Of all ranges together. */
  get length(): number {
    let sum = 0;
    for (let index = 0; index < this.count; index++) sum += this.end(index) - this.start(index);
    return sum;
  }

  start(index: number): number {
    return this.positions[index * 2] as number;
  }

  end(index: number): number {
    return this.positions[index * 2 + 1] as number;
  }
}

/** The position of a field with a length; the last one counts if it is repeated. */
export class Range {
  start = 0;
  end = 0;

  clear(): void {
    this.start = this.end = 0;
  }

  set(reader: ProtoReader, end: number): void {
    this.end = reader.contentEnd(end);
    this.start = reader.pos;
    reader.pos = this.end;
  }

  get length(): number {
    return this.end - this.start;
  }
}

/** Calls `visit` with the range of every field `tag` of a message. Fields with other tags are skipped. */
export function eachField(
  reader: ProtoReader,
  start: number,
  end: number,
  tag: number,
  visit: (start: number, end: number) => void,
): void {
  reader.pos = start;
  while (reader.pos < end) {
    const found = reader.tag(end);
    if (found !== tag) {
      reader.skip(found, end);
      continue;
    }
    const contentEnd = reader.contentEnd(end);
    visit(reader.pos, contentEnd);
    reader.pos = contentEnd;
  }
  if (reader.pos !== end) throw new MalformedMessage('a field is longer than its message');
}
