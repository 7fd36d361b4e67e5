import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../../kernel/errors.ts';
import { getIdentity, type Identity } from '../guard.ts';

/** The client of a request, with a signal that is aborted if it disconnects before it has the whole response. */
export function getClient(request: FastifyRequest, reply: object): Identity & { signal: AbortSignal } {
  const controller = new AbortController();
  const { raw } = reply as FastifyReply;
  const abort = () => {
    if (!raw.writableFinished) controller.abort(new AppError('request_timeout', 'The client disconnected'));
  };
  // The client may have left while it was authenticated.
  if (raw.closed) abort();
  else raw.once('close', abort);
  return { ...getIdentity(request), signal: controller.signal };
}
