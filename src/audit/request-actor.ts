import type { FastifyRequest } from 'fastify';
import { getIdentity } from '../http/guard.ts';
import type { Actor } from './activity.ts';

/** The actor that the audit log names for a change made by this request. */
export function getActor(request: FastifyRequest): Actor {
  const { credentialId, credentialName } = getIdentity(request);
  const actor: Actor = {
    type: 'api',
    id: credentialId,
    details: credentialName,
    address: request.clientAddress,
    requestId: request.id,
  };
  const userAgent = request.headers['user-agent'];
  if (userAgent !== undefined) actor.userAgent = userAgent.slice(0, 512);
  return actor;
}
