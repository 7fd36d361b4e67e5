import type { InvalidRecords } from './invalid-records.ts';
import type { Field, Message, ScalarKind } from './otlp-messages.ts';
import { BYTES, FIXED32, FIXED64, field, MalformedMessage, VARINT } from './proto-reader.ts';
import type { RowBuffer } from './row-buffer.ts';

/**
 * Encodes OTLP/JSON as protobuf, so that both formats have the same rules from there on. Fields that are unknown are ignored,
 * as the protocol demands; `null` counts as not set. A record that is not valid is encoded without fields and added to `invalid`.
 */
export function encodeJson(message: Message, value: unknown, out: RowBuffer, invalid: InvalidRecords): void {
  if (!isObject(value)) throw mustBe('an object');
  for (const name in value) {
    const known = Object.hasOwn(message, name) ? message[name] : undefined;
    const member = value[name];
    if (!known || member === null || member === undefined) continue;
    try {
      encodeField(known, member, out, invalid);
    } catch (error) {
      throw error instanceof MalformedMessage ? atPath(name, error) : error;
    }
  }
}

function encodeField(known: Field, value: unknown, out: RowBuffer, invalid: InvalidRecords): void {
  if (!known.isRepeated) {
    encodeOne(known, value, out, invalid);
    return;
  }
  if (!Array.isArray(value)) throw mustBe('an array');
  for (const [index, item] of value.entries()) {
    const start = out.length;
    try {
      encodeOne(known, item, out, invalid);
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      if (!known.isRecord || invalid.isFull()) throw atPath(`[${index}]`, error);
      out.length = start;
      encodeOne(known, {}, out, invalid);
      invalid.add(out.length, error, item);
    }
  }
}

function encodeOne({ number, kind }: Field, value: unknown, out: RowBuffer, invalid: InvalidRecords): void {
  if (typeof kind !== 'string') {
    out.varint(field(number, BYTES));
    const at = out.length;
    out.uint32(0);
    encodeJson(kind(), value, out, invalid);
    writeLength(out, at);
  } else SCALARS[kind](number, value, out);
}

/** The length of what follows the four bytes at `at`, as a varint that is padded to four bytes: its contents need not move. */
function writeLength({ bytes, length }: RowBuffer, at: number): void {
  const size = length - at - 4;
  if (size >= 2 ** 28) throw new MalformedMessage('it is larger than 256 MiB');
  for (let index = 0; index < 3; index++) bytes[at + index] = ((size >>> (index * 7)) & 0x7f) | 0x80;
  bytes[at + 3] = size >>> 21;
}

const SCALARS: Record<ScalarKind, (number: number, value: unknown, out: RowBuffer) => void> = {
  string(number, value, out) {
    if (typeof value !== 'string') throw mustBe('a string');
    out.varint(field(number, BYTES));
    out.text(value);
  },
  base64: (number, value, out) => writeBytes(number, value, BASE64, 'base64', out),
  hex: (number, value, out) => writeBytes(number, value, HEX, 'hex', out),
  bool(number, value, out) {
    if (typeof value !== 'boolean') throw mustBe('true or false');
    out.varint(field(number, VARINT));
    out.uint8(value ? 1 : 0);
  },
  double(number, value, out) {
    out.varint(field(number, FIXED64));
    out.double(toDouble(value));
  },
  fixed32(number, value, out) {
    out.varint(field(number, FIXED32));
    out.uint32(Number(toInteger(value, UINT32)));
  },
  fixed64(number, value, out) {
    out.varint(field(number, FIXED64));
    out.uint64(toInteger(value, UINT64));
  },
  sfixed64(number, value, out) {
    out.varint(field(number, FIXED64));
    out.uint64(BigInt.asUintN(64, toInteger(value, INT64)));
  },
  int64(number, value, out) {
    out.varint(field(number, VARINT));
    writeVarint64(BigInt.asUintN(64, toInteger(value, INT64)), out);
  },
  uint64(number, value, out) {
    out.varint(field(number, VARINT));
    writeVarint64(toInteger(value, UINT64), out);
  },
  uint32(number, value, out) {
    out.varint(field(number, VARINT));
    writeVarint64(toInteger(value, UINT32), out);
  },
  sint32(number, value, out) {
    const signed = Number(toInteger(value, INT32));
    out.varint(field(number, VARINT));
    writeVarint64(BigInt(((signed << 1) ^ (signed >> 31)) >>> 0), out);
  },
};

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const HEX = /^(?:[0-9a-fA-F]{2})*$/;

function writeBytes(number: number, value: unknown, pattern: RegExp, encoding: 'base64' | 'hex', out: RowBuffer): void {
  if (typeof value !== 'string' || !pattern.test(value))
    throw mustBe(encoding === 'hex' ? 'hexadecimal digits' : 'base64');
  const bytes = Buffer.from(value, encoding);
  out.varint(field(number, BYTES));
  out.string(bytes, 0, bytes.length);
}

interface IntegerRange {
  least: bigint;
  most: bigint;
}

const INT32: IntegerRange = { least: -(2n ** 31n), most: 2n ** 31n - 1n };
const UINT32: IntegerRange = { least: 0n, most: 2n ** 32n - 1n };
const INT64: IntegerRange = { least: -(2n ** 63n), most: 2n ** 63n - 1n };
const UINT64: IntegerRange = { least: 0n, most: 2n ** 64n - 1n };

/** A number, or a string of digits: numbers of 64 bits are strings in JSON. */
function toInteger(value: unknown, { least, most }: IntegerRange): bigint {
  const isInteger =
    typeof value === 'number' ? Number.isInteger(value) : typeof value === 'string' && /^-?\d{1,20}$/.test(value);
  const integer = isInteger ? BigInt(value as number | string) : undefined;
  if (integer === undefined || integer < least || integer > most) throw mustBe(`an integer from ${least} to ${most}`);
  return integer;
}

const SPECIAL_DOUBLES: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

function toDouble(value: unknown): number {
  if (typeof value === 'number') return value;
  const special = SPECIAL_DOUBLES.get(value);
  if (special !== undefined) return special;
  const isText = typeof value === 'string' && /^-?\d{1,40}(\.\d{1,40})?(e[+-]?\d{1,3})?$/i.test(value);
  if (!isText) throw mustBe('a number, "NaN", "Infinity" or "-Infinity"');
  return Number(value);
}

function writeVarint64(value: bigint, out: RowBuffer): void {
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) out.uint8(Number(rest & 0x7fn) | 0x80);
  out.uint8(Number(rest));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const mustBe = (rule: string): MalformedMessage => new MalformedMessage(` must be ${rule}`);

/** Messages start with a path or a space; the innermost part is added first. */
function atPath(part: string, { message }: MalformedMessage): MalformedMessage {
  const separator = /^[[ ]/.test(message) ? '' : '.';
  return new MalformedMessage(`${part}${separator}${message}`);
}
