import type { FastifyReply, FastifyRequest } from 'fastify';
import { compressed, preferredEncoding, WORTH_COMPRESSING_BYTES } from '../kernel/encodings.ts';

/** `onSend` of a route whose answers are made anew for everybody who asks. */
export async function compressAnswer(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  reply.header('vary', 'accept-encoding');
  const encoding = preferredEncoding(request.headers['accept-encoding'] ?? '');
  if (encoding === 'identity' || typeof payload !== 'string' || payload.length < WORTH_COMPRESSING_BYTES)
    return payload;
  reply.header('content-encoding', encoding);
  return compressed(Buffer.from(payload), encoding, 'fresh');
}
