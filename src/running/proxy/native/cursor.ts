import { isUtf8 } from 'node:buffer';

/** The bytes end before the value does. */
export class Incomplete extends Error {}

/** The bytes are not what the native protocol has here. The message is a sentence without its period. */
export class Malformed extends Error {}

/** Numbers of the packets that are read here fit in 32 bits. */
const MAX_VARINT_BYTES = 5;
const MAX_NUMBER = 2 ** 32 - 1;
const MAX_TEXT_BYTES = 4 * 1024;

/** Reads values of the native protocol one after the other. Throws `Incomplete` or `Malformed`. */
export function createCursor(bytes: Buffer) {
  let position = 0;

  function readNumber(): number {
    let value = 0;
    for (let index = 0; index < MAX_VARINT_BYTES; index++) {
      const byte = bytes[position + index];
      if (byte === undefined) throw new Incomplete();
      value += (byte & 127) * 2 ** (7 * index);
      if (byte >= 128) continue;
      if (value > MAX_NUMBER) break;
      position += index + 1;
      return value;
    }
    throw new Malformed('A number is too large');
  }

  /** The length is checked before the text has arrived. */
  function readText(): string {
    const length = readNumber();
    if (length > MAX_TEXT_BYTES) throw new Malformed(`A text has ${length} bytes. Maximum: ${MAX_TEXT_BYTES}`);
    const text = bytes.subarray(position, position + length);
    if (text.length < length) throw new Incomplete();
    if (!isUtf8(text)) throw new Malformed('A text is not UTF-8');
    position += length;
    return text.toString('utf8');
  }

  return { readNumber, readText, getRest: (): Buffer => bytes.subarray(position) };
}
