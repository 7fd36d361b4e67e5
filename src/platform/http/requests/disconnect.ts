import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../../kernel/errors.ts';
import { getIdentity, type Identity } from '../guard.ts';

/** A signal that is aborted if the client disconnects before it has the whole response. */
export function abortOnDisconnect(reply: object): AbortSignal {
  const controller = new AbortController();
  const { raw } = reply as FastifyReply;
  const abort = () => {
    if (!raw.writableFinished) controller.abort(new AppError('request_timeout', 'The client disconnected'));
  };
  // The client may have left while it was authenticated.
  if (raw.closed) abort();
  else raw.once('close', abort);
  return controller.signal;
}

/** The client of a request. Its signal is aborted if it disconnects. */
export const getClient = (request: FastifyRequest, reply: object): Identity & { signal: AbortSignal } => ({
  ...getIdentity(request),
  signal: abortOnDisconnect(reply),
});
