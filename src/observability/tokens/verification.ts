import { DASHBOARD_READERS, hasRole } from '../../kernel/access/roles.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { isExpired } from '../../platform/credentials/expiry.ts';
import type { LastUsed } from '../../platform/credentials/last-used.ts';
import { hashSecret } from '../../platform/credentials/secrets.ts';
import type { FoundCredential } from '../../platform/credentials/store.ts';
import type { Db } from '../../platform/state/tables.ts';
import { findTokenByHash, findTokenWithRevisions } from './store.ts';
import type { Token } from './token.ts';

export type TokenVerifier = ReturnType<typeof createTokenVerifier>;

/** For sessions: checks a token at sign-in, and again for every request of the session. Throws `unauthorized`. */
export function createTokenVerifier({ db, clock, lastUsed }: { db: Db; clock: Clock; lastUsed: LastUsed }) {
  function accept(found: FoundCredential<Token> | undefined): FoundCredential<Token> {
    if (!found || isExpired(found.credential.expireAt, clock.now()))
      throw new AppError('unauthorized', 'Token is not found');
    if (!hasRole([found.credential.access], DASHBOARD_READERS))
      throw new AppError('unauthorized', 'This token can only send telemetry');
    lastUsed.record(found.credential);
    return found;
  }

  return {
    verify: async (text: string): Promise<FoundCredential<Token>> =>
      accept(await findTokenByHash(db, hashSecret(text))),

    getActive: async (organizationId: string, id: string): Promise<FoundCredential<Token>> =>
      accept(await findTokenWithRevisions(db, organizationId, id)),

    /** A token that may have expired. */
    findByHash: async (tokenHash: string): Promise<Token | undefined> =>
      (await findTokenByHash(db, tokenHash))?.credential,

    /** A token that may have expired. */
    find: async (organizationId: string, id: string): Promise<Token | undefined> =>
      (await findTokenWithRevisions(db, organizationId, id))?.credential,
  };
}
