import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Says in the log why an answer ended in the middle. */
    logAbortedResponse(error: unknown): void;
  }
}

/**
 * The pieces of an answer that has begun. When making them fails, the connection is cut, which is all the client can be
 * told; the log says why. A client that goes away is no failure.
 */
export async function* logFailures(
  request: Pick<FastifyRequest, 'logAbortedResponse'>,
  pieces: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  try {
    for (;;) {
      const next = await pieces.next().catch((error: unknown) => {
        request.logAbortedResponse(error);
        throw error;
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await pieces.return(undefined);
  }
}
