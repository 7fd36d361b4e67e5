import type { Grants } from '../../kernel/access/grants.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { LastUsed } from '../../platform/credentials/last-used.ts';
import { EMPTY_SECRET_HASH, hashSecret, isSameHash } from '../../platform/credentials/secrets.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { RoleReader } from './assigned-roles.ts';
import { hasSystemRolesOnly, isActive, type Key } from './key.ts';
import { findKeyByHash, findKeyWithRevisions, type KeyCandidate, type KeyWithRevisions } from './store.ts';

/** Only after the secret was right (decision M5). */
export const KEY_NOT_ACTIVE = 'Key is not active';

/** Compared with if the key id is unknown, so that the response takes as long as for a wrong secret. */
const DUMMY_SECRET_HASH = Buffer.from(EMPTY_SECRET_HASH);

/** Throws `unauthorized` unless the secret matches and the key is active. */
export function verifyKey(candidate: KeyCandidate | undefined, keySecretHash: Buffer, now: number): KeyCandidate {
  const isMatch = isSameHash(keySecretHash, candidate?.keySecretHash ?? DUMMY_SECRET_HASH);
  if (!candidate || !isMatch) throw new AppError('unauthorized', 'Key is not found');
  if (!isActive(candidate.key, now)) throw new AppError('unauthorized', KEY_NOT_ACTIVE);
  return candidate;
}

interface Options {
  db: Db;
  clock: Clock;
  lastUsed: LastUsed;
  roleReader: RoleReader;
}

/** An active key and, unless it has system roles only, what its roles allow. */
interface ActiveKey extends KeyWithRevisions {
  grants: Grants | undefined;
}

export type KeyVerifier = ReturnType<typeof createKeyVerifier>;

/** For sessions: checks a key at sign-in, and again for every request of the session. */
export function createKeyVerifier({ db, clock, lastUsed, roleReader }: Options) {
  /** Throws `unauthorized` if the key was deleted or disabled, or has expired. */
  async function getActive(organizationId: string, id: string): Promise<ActiveKey> {
    const found = await findKeyWithRevisions(db, organizationId, id);
    if (!found) throw new AppError('unauthorized', 'Key is not found');
    if (!isActive(found.key, clock.now())) throw new AppError('unauthorized', KEY_NOT_ACTIVE);
    lastUsed.record(found.key);
    const grants = hasSystemRolesOnly(found.key)
      ? undefined
      : await roleReader.getGrants(found.key, found.roleRevision);
    return { ...found, grants };
  }

  return {
    getActive,

    /** A key in any state. Its secret is not verified. */
    async findByHash(keyIdHash: string): Promise<Key | undefined> {
      return (await findKeyByHash(db, keyIdHash))?.key;
    },

    /** A key in any state. */
    async find(organizationId: string, id: string): Promise<Key | undefined> {
      return (await findKeyWithRevisions(db, organizationId, id))?.key;
    },

    /** Throws `unauthorized` unless the secret matches and the key is active. */
    async verify({ keyId, keySecret }: { keyId: string; keySecret: string }): Promise<ActiveKey> {
      const candidate = await findKeyByHash(db, hashSecret(keyId));
      const { key } = verifyKey(candidate, Buffer.from(hashSecret(keySecret)), clock.now());
      return getActive(key.organizationId, key.id);
    },
  };
}
