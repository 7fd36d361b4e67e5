import * as zlib from 'node:zlib';
import { findExceededLimit } from '../../kernel/json/json-meter.ts';
import type { TelemetryRule } from '../../management/organizations/organization.ts';
import { compileRules } from './rules/apply-rules.ts';
import { Batch, type BatchOptions, type Transcoded } from './wire/batch.ts';
import { InvalidRecords } from './wire/invalid-records.ts';
import { encodeJson } from './wire/json-to-proto.ts';
import { LIMITS, SlowRules, TooManyParts } from './wire/limits.ts';
import { transcodeLogs } from './wire/logs.ts';
import { transcodeMetrics } from './wire/metrics.ts';
import { REQUEST_MESSAGES, type Signal } from './wire/otlp-messages.ts';
import { MalformedMessage, ProtoReader } from './wire/proto-reader.ts';
import { RowBuffer, TooManyBytes } from './wire/row-buffer.ts';
import { transcodeSpans } from './wire/spans.ts';

/** Of a request, before and after decompression. */
export const MAX_REQUEST_BYTES = 64 * 2 ** 20;
/** Of the rows of a request. Each row repeats the attributes of its resource, so they can be much larger than the request. */
const MAX_ROW_BYTES = 256 * 2 ** 20;
/** A member with a name that occurs once takes two microseconds. */
const MAX_JSON_VALUES = 2_000_000;
const MAX_JSON_DEPTH = 100;

export type Compression = 'gzip' | 'deflate' | 'zstd';

export interface OtlpRequest {
  signal: Signal;
  format: 'protobuf' | 'json';
  compression: Compression | undefined;
  body: Uint8Array;
}

export interface TranscodeOptions extends Omit<BatchOptions, 'maxRowBytes' | 'invalid' | 'findDropRule'> {
  /** Enabled ones of this signal, in their order; undefined if there are none. */
  rules?: readonly TelemetryRule[] | undefined;
}

/** A request of which nothing is stored, and why. */
export interface Refused {
  code: 'bad_request' | 'payload_too_large';
  message: string;
}

const TRANSCODE = { logs: transcodeLogs, traces: transcodeSpans, metrics: transcodeMetrics };

/** Converts an OTLP request into rows for the engine. Takes up to seconds of CPU, so it runs in a thread of its own. */
export function transcode(request: OtlpRequest, { rules, ...options }: TranscodeOptions): Transcoded | Refused {
  try {
    const bytes = decompress(Buffer.from(request.body.buffer, request.body.byteOffset, request.body.length), request);
    const invalid = request.format === 'json' ? new InvalidRecords() : undefined;
    const message = invalid ? toProtobuf(request.signal, bytes, invalid) : bytes;
    const findDropRule = rules && compileRules(request.signal, rules);
    const batch = new Batch({ ...options, maxRowBytes: MAX_ROW_BYTES, invalid, findDropRule });
    TRANSCODE[request.signal](new ProtoReader(message), batch);
    return batch.finish();
  } catch (error) {
    if (error instanceof MalformedMessage)
      return { code: 'bad_request', message: `The request is not valid OTLP: ${error.message}` };
    if (error instanceof TooLarge) return { code: 'payload_too_large', message: error.message };
    if (error instanceof TooManyParts)
      return {
        code: 'payload_too_large',
        message: `The request has more than ${LIMITS.parts} resources, scopes and records; send fewer at a time`,
      };
    if (error instanceof SlowRules)
      return {
        code: 'payload_too_large',
        message: 'The rules of the organization take too long for this request; send fewer records at a time',
      };
    if (error instanceof TooManyBytes)
      return {
        code: 'payload_too_large',
        message: `The rows of the request are larger than ${MAX_ROW_BYTES / 2 ** 20} MiB; send fewer records at a time`,
      };
    throw error;
  }
}

class TooLarge extends Error {}

/** Undefined if this version of Node.js cannot decompress it. */
const DECOMPRESS: Record<Compression, ((bytes: Buffer, options: zlib.ZlibOptions) => Buffer) | undefined> = {
  gzip: zlib.gunzipSync,
  deflate: zlib.inflateSync,
  zstd: (zlib as { zstdDecompressSync?: typeof zlib.gunzipSync }).zstdDecompressSync,
};

export const COMPRESSIONS = (Object.keys(DECOMPRESS) as Compression[]).filter((name) => DECOMPRESS[name]);

function decompress(bytes: Buffer, { compression }: OtlpRequest): Buffer {
  const run = compression && DECOMPRESS[compression];
  if (!run) return bytes;
  try {
    return run(bytes, { maxOutputLength: MAX_REQUEST_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new TooLarge(`The request is larger than ${MAX_REQUEST_BYTES / 2 ** 20} MiB after decompression`);
    throw new MalformedMessage(`it cannot be decompressed with ${compression}`);
  }
}

function toProtobuf(signal: Signal, bytes: Buffer, invalid: InvalidRecords): Buffer {
  const exceeded = findExceededLimit(bytes, { maxValues: MAX_JSON_VALUES, maxDepth: MAX_JSON_DEPTH });
  if (exceeded === 'maxValues') throw new TooLarge(`The request has more than ${MAX_JSON_VALUES} values`);
  if (exceeded) throw new MalformedMessage(`it is nested more than ${MAX_JSON_DEPTH} levels deep`);
  const out = new RowBuffer({ bytes: MAX_ROW_BYTES });
  encodeJson(REQUEST_MESSAGES[signal], parseJson(bytes), out, invalid);
  return out.bytes.subarray(0, out.length);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return bytes.length === 0 ? {} : JSON.parse(bytes.toString());
  } catch {
    throw new MalformedMessage('it is not valid JSON');
  }
}
