import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Logs why a response was aborted after it had started. */
    logAbortedResponse(error: unknown): void;
  }
}

/**
 * Passes on the chunks of a response that has started. If producing them fails, the connection is closed, because the
 * status has been sent already, and the error is logged. A client that disconnects is not an error.
 */
export async function* logFailures(
  request: Pick<FastifyRequest, 'logAbortedResponse'>,
  chunks: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  try {
    for (;;) {
      const next = await chunks.next().catch((error: unknown) => {
        request.logAbortedResponse(error);
        throw error;
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await chunks.return(undefined);
  }
}
