import type { FastifyReply, FastifyRequest } from 'fastify';
import { compress, MIN_COMPRESSED_BYTES, preferredEncoding } from '../../../kernel/encodings.ts';

/** `onSend` hook for routes whose responses are not cached. */
export async function compressResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  reply.header('vary', 'accept-encoding');
  const encoding = preferredEncoding(request.headers['accept-encoding'] ?? '');
  if (encoding === 'identity' || typeof payload !== 'string' || payload.length < MIN_COMPRESSED_BYTES) return payload;
  reply.header('content-encoding', encoding);
  return compress(Buffer.from(payload), encoding, 'once');
}
