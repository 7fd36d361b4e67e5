import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { AppError } from '../../../kernel/errors.ts';
import { createJsonMeter, type ExceededLimit, type JsonLimits } from '../../../kernel/json/json-meter.ts';

export interface BodyLimits extends JsonLimits {
  maxBytes: number;
}

const BYTE_ORDER_MARK = 0xfeff;
const MIB = 1024 * 1024;

/**
 * Reads a JSON text. Its size is measured and its bytes are decoded piece by piece while they arrive, so that a long body
 * does not block other requests. The rest of a body with too many values is read and discarded, because a client that is
 * still sending would not see the response.
 */
export function readJsonText(
  payload: Readable,
  limits: BodyLimits,
  done: (error: Error | null, text: string) => void,
): void {
  const meter = createJsonMeter(limits);
  const decoder = createUtf8Decoder();
  let receivedBytes = 0;
  let text = '';
  let failure: AppError | undefined;

  function onData(chunk: Buffer): void {
    receivedBytes += chunk.length;
    if (receivedBytes > limits.maxBytes) finish(tooManyBytes(limits.maxBytes));
    else if (!failure) measure(chunk);
  }

  function measure(chunk: Buffer): void {
    const exceeded = meter.add(chunk);
    const piece = exceeded ? undefined : decoder.decode(chunk);
    if (exceeded) failure = limitError(exceeded, limits);
    else if (piece === undefined) failure = invalidUtf8();
    else text += piece;
  }

  function finish(error?: Error | null): void {
    payload.removeListener('data', onData);
    payload.removeListener('end', onEnd);
    payload.removeListener('error', onError);
    done(error ?? null, text);
  }

  function onEnd(): void {
    failure ??= decoder.isComplete() ? undefined : invalidUtf8();
    text = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
    finish(failure);
  }

  /** Here and not in the error handler, where a closed connection could also be one to the database. */
  function onError(error: Error): void {
    finish(new AppError('bad_request', 'The request body ended too early', { cause: error }));
  }

  payload.on('data', onData);
  payload.on('end', onEnd);
  payload.on('error', onError);
  payload.resume();
}

export function tooManyBytes(maxBytes: number): AppError {
  const size = maxBytes % MIB === 0 ? `${maxBytes / MIB} MiB` : `${maxBytes / 1024} KiB`;
  return new AppError('payload_too_large', `The request body is larger than ${size}`);
}

const limitError = (exceeded: ExceededLimit, { maxValues, maxDepth }: JsonLimits): AppError =>
  exceeded === 'maxDepth'
    ? new AppError('bad_request', `request body is nested more than ${maxDepth} levels deep`)
    : new AppError('payload_too_large', `The request body has more than ${maxValues} values`);

const invalidUtf8 = (): AppError => new AppError('bad_request', 'request body is not valid UTF-8');

/** Decodes pieces that may end within a character. */
function createUtf8Decoder() {
  let rest = Buffer.alloc(0);
  return {
    /** Undefined if the bytes are not valid UTF-8. */
    decode(chunk: Buffer): string | undefined {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = bytes.length - countIncompleteBytes(bytes);
      rest = Buffer.from(bytes.subarray(end));
      const complete = end === bytes.length ? bytes : bytes.subarray(0, end);
      return isUtf8(complete) ? complete.toString('utf8') : undefined;
    },
    isComplete: (): boolean => rest.length === 0,
  };
}

/** The number of bytes at the end that start a character without completing it. */
function countIncompleteBytes(bytes: Buffer): number {
  for (let count = 1; count <= Math.min(3, bytes.length); count++) {
    const byte = bytes[bytes.length - count] ?? 0;
    // Bytes that start with the bits 10 continue a character; the others tell how long it is.
    if (byte >= 0b1100_0000) return countCharacterBytes(byte) > count ? count : 0;
    if (byte < 0b1000_0000) return 0;
  }
  return 0;
}

const countCharacterBytes = (first: number): number => (first >= 0b1111_0000 ? 4 : first >= 0b1110_0000 ? 3 : 2);
