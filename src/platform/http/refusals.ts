import type { FastifyRequest } from 'fastify';
import type { RefusedCredential } from '../../kernel/errors.ts';
import type { App } from './requests/validation.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the credential was named and not accepted. */
    refused: RefusedCredential | undefined;
  }
}

/** A 401 or 403 for a credential that exists. */
interface Refusal {
  organizationId: string;
  credentialId: string;
  credentialName: string;
  credential: 'key' | 'token' | 'member';
  reason: RefusedCredential['reason'] | 'address not allowed' | 'not permitted';
  address: string;
}

/** Reports refused calls after their response. Credentials that do not exist belong to no organization; they are in the metrics only. */
export function observeRefusals(scope: App, credential: 'key' | 'token', observe: (refusal: Refusal) => void): void {
  scope.addHook('onResponse', (request, reply, done) => {
    const refusal = reply.statusCode === 401 || reply.statusCode === 403 ? findRefusal(request, credential) : undefined;
    if (refusal) observe(refusal);
    done();
  });
}

function findRefusal(request: FastifyRequest, credential: 'key' | 'token'): Refusal | undefined {
  const { identity, refused, clientAddress: address } = request;
  if (refused) {
    const { organizationId, id, name, reason } = refused;
    return { organizationId, credentialId: id, credentialName: name, credential, reason, address };
  }
  // A command that opened the store itself has no credential.
  if (!identity || identity.isLocal) return undefined;
  const { organizationId, credentialId, credentialName, session = credential } = identity;
  const reason = (identity.allowsAddress?.(address) ?? true) ? 'not permitted' : 'address not allowed';
  return { organizationId, credentialId, credentialName, credential: session, reason, address };
}
