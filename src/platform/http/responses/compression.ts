import type { FastifyReply, FastifyRequest } from 'fastify';
import { compress, type Encoding, MIN_COMPRESSED_BYTES, preferredEncoding } from '../../../kernel/encodings.ts';

/** The encoding of a response, by `Accept-Encoding`: one of those that are available, or `identity`. */
export function chooseEncoding(
  request: FastifyRequest,
  reply: FastifyReply,
  available?: readonly Encoding[],
): Encoding | 'identity' {
  reply.header('vary', 'accept-encoding');
  return preferredEncoding(request.headers['accept-encoding'], available);
}

/** `onSend` hook for routes whose responses are not cached. */
export async function compressResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const encoding = chooseEncoding(request, reply);
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
  if (encoding === 'identity' || payload.length < MIN_COMPRESSED_BYTES) return payload;
  reply.header('content-encoding', encoding);
  return compress(typeof payload === 'string' ? Buffer.from(payload) : payload, encoding, 'once');
}
