import otlp from '@opentelemetry/otlp-transformer/build/src/generated/root.js';
import type { Signal } from '../../src/observability/ingest/wire/otlp-messages.ts';
import type { Json } from './client.ts';

/** OpenTelemetry's own code for its messages: independent of the code under test. */
interface Codec {
  encode(message: object): { finish(): Uint8Array };
  decode(bytes: Uint8Array): object;
  toObject(message: object, options: object): Json;
}

const { logs, trace, metrics } = (otlp as unknown as Json).opentelemetry.proto.collector;

const REQUESTS: Record<Signal, Codec> = {
  logs: logs.v1.ExportLogsServiceRequest,
  traces: trace.v1.ExportTraceServiceRequest,
  metrics: metrics.v1.ExportMetricsServiceRequest,
};

const RESPONSES: Record<Signal, Codec> = {
  logs: logs.v1.ExportLogsServiceResponse,
  traces: trace.v1.ExportTraceServiceResponse,
  metrics: metrics.v1.ExportMetricsServiceResponse,
};

const HEX_MEMBERS = new Set(['traceId', 'spanId', 'parentSpanId']);

/** The same request in protobuf. `request` is in OTLP/JSON, with integers of 64 bits as strings. */
export const encodeRequest = (signal: Signal, request: object): Buffer =>
  Buffer.from(REQUESTS[signal].encode(toMessage(request) as object).finish());

function toMessage(value: Json, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => toMessage(item));
  if (typeof value === 'string' && HEX_MEMBERS.has(name)) return Buffer.from(value, 'hex');
  if (typeof value === 'string' && name === 'bytesValue') return Buffer.from(value, 'base64');
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toMessage(member, key)]));
}

/** An Export…ServiceResponse as JSON. */
export const decodeResponse = (signal: Signal, bytes: Uint8Array): Json =>
  RESPONSES[signal].toObject(RESPONSES[signal].decode(bytes), { longs: String });

/** A google.rpc.Status, which has fields like those of a partial success. */
export function decodeStatus(bytes: Uint8Array): { code: number; message: string } {
  const { ExportLogsPartialSuccess: codec } = logs.v1;
  const { rejectedLogRecords, errorMessage } = codec.toObject(codec.decode(bytes), { longs: Number, defaults: true });
  return { code: rejectedLogRecords, message: errorMessage };
}

/** A field of a protobuf message that has a length. */
export const field = (number: number, contents: Uint8Array): Buffer =>
  Buffer.concat([varint(number * 8 + 2), varint(contents.length), contents]);

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}

/** The contents of the only field of a message. */
export function unwrap(message: Buffer): Buffer {
  let at = 1;
  while ((message[at] as number) > 0x7f) at++;
  return message.subarray(at + 1);
}

/** The fields of a message, all of which have a length: their numbers and their bytes with the tag. */
export function split(message: Buffer): { number: number; bytes: Buffer }[] {
  const fields: { number: number; bytes: Buffer }[] = [];
  for (let at = 0; at < message.length; ) {
    const start = at;
    let [length, shift] = [0, 0];
    for (at++; ; shift += 7) {
      const byte = message[at++] as number;
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    at += length;
    fields.push({ number: (message[start] as number) >> 3, bytes: message.subarray(start, at) });
  }
  return fields;
}
