import type { LastUsed } from '../credentials/last-used.ts';
import { hashOf } from '../credentials/secrets.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import type { Db } from '../state/tables.ts';
import { findCurrentToken, findTokenByHash, type IdentifiedToken } from './store.ts';

export type TokenIdentities = ReturnType<typeof createTokenIdentities>;

/** Tokens for those who sign in once and come back: each time the token is looked at as it is now. */
export function createTokenIdentities({ db, clock, lastUsed }: { db: Db; clock: Clock; lastUsed: LastUsed }) {
  function usable(found: IdentifiedToken | undefined): IdentifiedToken {
    const isGood = found && (found.token.expireAt === undefined || found.token.expireAt > clock.now());
    if (!isGood) throw new AppError('unauthorized', 'Token is not found');
    lastUsed.note(found.token);
    return found;
  }

  return {
    identify: async (text: string): Promise<IdentifiedToken> => usable(await findTokenByHash(db, hashOf(text))),

    recall: async (organizationId: string, id: string): Promise<IdentifiedToken> =>
      usable(await findCurrentToken(db, organizationId, id)),
  };
}
