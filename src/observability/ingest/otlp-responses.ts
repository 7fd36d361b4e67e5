import type { AppError } from '../../kernel/errors.ts';
import { cutCharacters } from '../../kernel/text.ts';
import type { Received } from './ingest.ts';
import type { Signal } from './wire/otlp-messages.ts';
import { BYTES, field, VARINT } from './wire/proto-reader.ts';
import { RowBuffer } from './wire/row-buffer.ts';

/** In the response: clients keep it in their logs. */
const MAX_MESSAGE_CHARACTERS = 1000;
const MAX_BYTES = 64 * 1024;

/** Codes of google.rpc.Status, which are those of gRPC. */
const GRPC_CODES = {
  ok: 0,
  invalidArgument: 3,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export function toGrpcCode({ code }: Pick<AppError, 'code'>): number {
  switch (code) {
    case 'unauthorized':
      return GRPC_CODES.unauthenticated;
    case 'forbidden':
      return GRPC_CODES.permissionDenied;
    case 'not_found':
    case 'method_not_allowed':
      return GRPC_CODES.unimplemented;
    case 'unavailable':
    case 'request_timeout':
      return GRPC_CODES.unavailable;
    case 'too_many_requests':
    case 'payload_too_large':
      return GRPC_CODES.resourceExhausted;
    case 'internal':
      return GRPC_CODES.internal;
    default:
      return GRPC_CODES.invalidArgument;
  }
}

/** The error for a token that may not send telemetry. */
export const needsIngestToken = (): string =>
  'Telemetry needs a token with the access ingest; create one on the Telemetry page or with pilothouse token create --access ingest';

const REJECTED_MEMBER: Record<Signal, string> = {
  logs: 'rejectedLogRecords',
  traces: 'rejectedSpans',
  metrics: 'rejectedDataPoints',
};

/** Which records were rejected and why, in one sentence. */
function formatRejections({ rejected, rejections }: Received): string[] {
  const reasons = rejections.map(({ reason, records, sample }) => `${records} because ${reason}, such as ${sample}`);
  return rejected === 0 ? [] : [`${rejected} of the records were not stored: ${reasons.join('; ')}`];
}

/** Which attributes were left out of accepted records. */
function formatRemoved({ removed }: Received): string[] {
  const keys = removed.flatMap(({ key }) => (key === '' ? [] : [JSON.stringify(key)]));
  const count = removed.reduce((sum, { records }) => sum + records, 0);
  return count === 0
    ? []
    : [`${count} attributes were removed, because the organization has too many attribute keys: ${keys.join(', ')}`];
}

/** An Export…ServiceResponse. Empty if everything was stored as it was sent; a message without rejected records is a warning. */
export function encodeResponse(signal: Signal, received: Received, format: 'protobuf' | 'json'): Buffer {
  const { rejected } = received;
  const sentences = [...formatRemoved(received), ...formatRejections(received)];
  const errorMessage = cutCharacters(sentences.join('. '), MAX_MESSAGE_CHARACTERS);
  if (format === 'json') {
    const partialSuccess = { [REJECTED_MEMBER[signal]]: String(rejected), errorMessage };
    return Buffer.from(JSON.stringify(errorMessage === '' ? {} : { partialSuccess }));
  }
  return errorMessage === '' ? Buffer.alloc(0) : encodeMessage(1, rejected, errorMessage);
}

/** A google.rpc.Status. */
export function encodeStatus(error: AppError, format: 'protobuf' | 'json'): Buffer {
  const message = cutCharacters(error.message, MAX_MESSAGE_CHARACTERS);
  const code = toGrpcCode(error);
  return format === 'json' ? Buffer.from(JSON.stringify({ code, message })) : encodeMessage(undefined, code, message);
}

const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo';

/** A google.rpc.Status with a RetryInfo: senders repeat `resourceExhausted` only with one. Undefined if it does not say when to repeat. */
export function encodeRetryStatus(error: AppError): Buffer | undefined {
  const { retryAfterSeconds } = error;
  if (retryAfterSeconds === undefined) return undefined;
  const seconds = encodeFields((out) => {
    out.varint(field(1, VARINT));
    out.varint(Math.ceil(retryAfterSeconds));
  });
  const retryInfo = encodeFields((out) => writeMessage(out, 1, seconds));
  const detail = encodeFields((out) => {
    out.varint(field(1, BYTES));
    out.text(RETRY_INFO);
    writeMessage(out, 2, retryInfo);
  });
  return Buffer.concat([encodeStatus(error, 'protobuf'), encodeFields((out) => writeMessage(out, 3, detail))]);
}

function encodeFields(write: (out: RowBuffer) => void): Buffer {
  const out = new RowBuffer({ bytes: MAX_BYTES });
  write(out);
  return out.take();
}

function writeMessage(out: RowBuffer, number: number, bytes: Buffer): void {
  out.varint(field(number, BYTES));
  out.string(bytes, 0, bytes.length);
}

/** A number in field 1 and a text in field 2, inside of the field `number` of another message if given. */
function encodeMessage(number: number | undefined, value: number, text: string): Buffer {
  const message = encodeFields((out) => {
    out.varint(field(1, VARINT));
    out.varint(value);
    out.varint(field(2, BYTES));
    out.text(text);
  });
  return number === undefined ? message : encodeFields((out) => writeMessage(out, number, message));
}
