import type { FastifyRequest } from 'fastify';
import { getActor } from '../../management/audit/request-actor.ts';
import type { SqlRole } from '../../management/services/driver.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { abortOnDisconnect } from '../../platform/http/requests/disconnect.ts';
import type { Caller } from './statements.ts';

/** Who runs the statement of a request. */
export function createCaller(request: FastifyRequest, reply: object, role: SqlRole): Caller {
  const { organizationId, credentialId } = getIdentity(request);
  return {
    organizationId,
    credentialId,
    role,
    actor: getActor(request),
    address: request.clientAddress,
    userAgent: request.headers['user-agent'] ?? '',
    signal: abortOnDisconnect(reply),
  };
}
