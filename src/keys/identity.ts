import type { LastUsed } from '../credentials/last-used.ts';
import { hashOf, isSameHash } from '../credentials/secrets.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import type { Db } from '../state/tables.ts';
import { isActive, type Key } from './key.ts';
import { findCurrentKey, findKeyByHash, type Identified } from './store.ts';

/** Stands in for the secret of a key that does not exist, so that the same work is done for it. */
const NOBODY = Buffer.from(hashOf(''));

/** The key, if the secret is its own and it may be used right now. */
export function provenKey(found: Identified | undefined, keySecretHash: Buffer, now: number): Identified {
  const isRight = isSameHash(keySecretHash, found?.keySecretHash ?? NOBODY);
  if (!found || !isRight) throw new AppError('unauthorized', 'Key is not found');
  if (!isActive(found.key, now)) throw new AppError('unauthorized', 'Key is not active');
  return found;
}

/** A key as it is now, and what is true of its organization. */
export interface CurrentKey {
  key: Key;
  costRevision: number;
  dashboardRevision: number;
}

export type KeyIdentities = ReturnType<typeof createKeyIdentities>;

/** Keys for those who sign in once and come back: what was true the last time is asked again each time. */
export function createKeyIdentities({ db, clock, lastUsed }: { db: Db; clock: Clock; lastUsed: LastUsed }) {
  async function recall(organizationId: string, id: string): Promise<CurrentKey> {
    const found = await findCurrentKey(db, organizationId, id);
    if (!found) throw new AppError('unauthorized', 'Key is not found');
    if (!isActive(found.key, clock.now())) throw new AppError('unauthorized', 'Key is not active');
    lastUsed.note(found.key);
    return found;
  }

  return {
    /** Throws `unauthorized` unless the credentials are good. */
    async identify({ keyId, keySecret }: { keyId: string; keySecret: string }): Promise<CurrentKey> {
      const found = await findKeyByHash(db, hashOf(keyId));
      const { key } = provenKey(found, Buffer.from(hashOf(keySecret)), clock.now());
      return recall(key.organizationId, key.id);
    },

    /** Throws `unauthorized` when the key was deleted, disabled or has expired. */
    recall,
  };
}
