import type { Authenticate, Caller } from '../http/guard.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { hashOf } from '../keys/credentials.ts';
import type { Db } from '../state/tables.ts';
import { findTokenByHash } from './store.ts';

const REFUSAL = 'Unauthorized access. API key is missing or invalid.';

/** Bearer token → caller. The token is looked up for every request, so a revoked one stops at once, on every node. */
export function createTokenAuthentication({ db, clock }: { db: Db; clock: Clock }): Authenticate {
  return async (header) => {
    const text = /^bearer +(\S+)\s*$/i.exec(header ?? '')?.[1];
    const token = text === undefined ? undefined : await findTokenByHash(db, hashOf(text));
    if (!token || (token.expireAt !== undefined && token.expireAt <= clock.now()))
      throw new AppError('unauthorized', REFUSAL);
    return {
      organizationId: token.organizationId,
      costRevision: 0,
      credentialId: token.id,
      credentialName: token.name,
      suffix: token.tokenSuffix,
      roles: ['dashboards'],
      allows: undefined,
    } satisfies Caller;
  };
}
