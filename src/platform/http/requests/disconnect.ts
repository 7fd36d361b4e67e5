import type { FastifyReply } from 'fastify';

/** A signal that is aborted if the client disconnects before it has the whole response. */
export function abortOnDisconnect(reply: object): AbortSignal {
  const controller = new AbortController();
  const { raw } = reply as FastifyReply;
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
