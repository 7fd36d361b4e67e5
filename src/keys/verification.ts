import type { LastUsed } from '../credentials/last-used.ts';
import { EMPTY_SECRET_HASH, hashSecret, isSameHash } from '../credentials/secrets.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import type { Db } from '../state/tables.ts';
import { isActive } from './key.ts';
import { findKeyByHash, findKeyWithRevisions, type KeyCandidate, type KeyWithRevisions } from './store.ts';

/** Compared with if the key id is unknown, so that the response takes as long as for a wrong secret. */
const DUMMY_SECRET_HASH = Buffer.from(EMPTY_SECRET_HASH);

/** Throws `unauthorized` unless the secret matches and the key is active. */
export function verifyKey(candidate: KeyCandidate | undefined, keySecretHash: Buffer, now: number): KeyCandidate {
  const isMatch = isSameHash(keySecretHash, candidate?.keySecretHash ?? DUMMY_SECRET_HASH);
  if (!candidate || !isMatch) throw new AppError('unauthorized', 'Key is not found');
  if (!isActive(candidate.key, now)) throw new AppError('unauthorized', 'Key is not active');
  return candidate;
}

export type KeyVerifier = ReturnType<typeof createKeyVerifier>;

/** For sessions: checks a key at sign-in, and again for every request of the session. */
export function createKeyVerifier({ db, clock, lastUsed }: { db: Db; clock: Clock; lastUsed: LastUsed }) {
  /** Throws `unauthorized` if the key was deleted or disabled, or has expired. */
  async function getActive(organizationId: string, id: string): Promise<KeyWithRevisions> {
    const found = await findKeyWithRevisions(db, organizationId, id);
    if (!found) throw new AppError('unauthorized', 'Key is not found');
    if (!isActive(found.key, clock.now())) throw new AppError('unauthorized', 'Key is not active');
    lastUsed.record(found.key);
    return found;
  }

  return {
    getActive,

    /** Throws `unauthorized` unless the secret matches and the key is active. */
    async verify({ keyId, keySecret }: { keyId: string; keySecret: string }): Promise<KeyWithRevisions> {
      const candidate = await findKeyByHash(db, hashSecret(keyId));
      const { key } = verifyKey(candidate, Buffer.from(hashSecret(keySecret)), clock.now());
      return getActive(key.organizationId, key.id);
    },
  };
}
