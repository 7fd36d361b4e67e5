import { AppError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { isExpired } from '../../platform/credentials/expiry.ts';
import type { LastUsed } from '../../platform/credentials/last-used.ts';
import { hashSecret } from '../../platform/credentials/secrets.ts';
import type { Db } from '../../platform/state/tables.ts';
import { findTokenByHash, findTokenWithRevision, type TokenWithRevision } from './store.ts';
import type { Token } from './token.ts';

export type TokenVerifier = ReturnType<typeof createTokenVerifier>;

/** For sessions: checks a token at sign-in, and again for every request of the session. Throws `unauthorized`. */
export function createTokenVerifier({ db, clock, lastUsed }: { db: Db; clock: Clock; lastUsed: LastUsed }) {
  function accept(found: TokenWithRevision | undefined): TokenWithRevision {
    if (!found || isExpired(found.token.expireAt, clock.now()))
      throw new AppError('unauthorized', 'Token is not found');
    lastUsed.record(found.token);
    return found;
  }

  return {
    verify: async (text: string): Promise<TokenWithRevision> => accept(await findTokenByHash(db, hashSecret(text))),

    getActive: async (organizationId: string, id: string): Promise<TokenWithRevision> =>
      accept(await findTokenWithRevision(db, organizationId, id)),

    /** A token that may have expired. */
    findByHash: async (tokenHash: string): Promise<Token | undefined> => (await findTokenByHash(db, tokenHash))?.token,

    /** A token that may have expired. */
    find: async (organizationId: string, id: string): Promise<Token | undefined> =>
      (await findTokenWithRevision(db, organizationId, id))?.token,
  };
}
