import type { FastifyRequest } from 'fastify';
import { getIdentity } from '../../platform/http/guard.ts';
import { type Caller, toCaller } from '../hand-outs/caller.ts';
import type { Actor } from './activity.ts';

type Origin = Pick<Actor, 'address' | 'requestId' | 'userAgent'>;

/** Where a request came from, for the audit log. */
export function getOrigin(request: FastifyRequest): Origin {
  const origin: Origin = { address: request.clientAddress, requestId: request.id };
  const userAgent = request.headers['user-agent'];
  if (userAgent !== undefined) origin.userAgent = userAgent.slice(0, 512);
  return origin;
}

/** The actor that the audit log names for a change made by this request. */
export function getActor(request: FastifyRequest): Actor {
  const { credentialId, credentialName, session, isLocal } = getIdentity(request);
  if (isLocal) return { type: 'system', id: credentialId, details: credentialName };
  const type = session === 'member' ? 'user' : 'api';
  return { type, id: credentialId, details: credentialName, ...getOrigin(request) };
}

/** What the author of this request may do, for the operations that hand out rights. */
export const getCaller = (request: FastifyRequest): Caller => toCaller(getIdentity(request));
