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
    case 'too_many_requests':
    case 'unavailable':
    case 'request_timeout':
      return GRPC_CODES.unavailable;
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
function formatRejections({ rejected, rejections }: Received): string {
  const reasons = rejections.map(({ reason, records, sample }) => `${records} because ${reason}, such as ${sample}`);
  return cutCharacters(`${rejected} of the records were not stored: ${reasons.join('; ')}`, MAX_MESSAGE_CHARACTERS);
}

/** An Export…ServiceResponse. Without rejected records, it is empty. */
export function encodeResponse(signal: Signal, received: Received, format: 'protobuf' | 'json'): Buffer {
  const { rejected } = received;
  if (format === 'json') {
    const partialSuccess = { [REJECTED_MEMBER[signal]]: String(rejected), errorMessage: '' };
    if (rejected > 0) partialSuccess.errorMessage = formatRejections(received);
    return Buffer.from(JSON.stringify(rejected > 0 ? { partialSuccess } : {}));
  }
  return rejected === 0 ? Buffer.alloc(0) : encodeMessage(1, rejected, formatRejections(received));
}

/** A google.rpc.Status. */
export function encodeStatus(error: AppError, format: 'protobuf' | 'json'): Buffer {
  const message = cutCharacters(error.message, MAX_MESSAGE_CHARACTERS);
  const code = toGrpcCode(error);
  return format === 'json' ? Buffer.from(JSON.stringify({ code, message })) : encodeMessage(undefined, code, message);
}

/** A number in field 1 and a text in field 2, inside of the field `number` of another message if given. */
function encodeMessage(number: number | undefined, value: number, text: string): Buffer {
  const out = new RowBuffer({ bytes: MAX_BYTES });
  out.varint(field(1, VARINT));
  out.varint(value);
  out.varint(field(2, BYTES));
  out.text(text);
  if (number === undefined) return out.take();
  const outer = new RowBuffer({ bytes: MAX_BYTES });
  outer.varint(field(number, BYTES));
  outer.string(out.bytes, 0, out.length);
  return outer.take();
}
