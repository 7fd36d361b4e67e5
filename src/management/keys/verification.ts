import type { Grants } from '../../kernel/access/grants.ts';
import { AppError, type RefusedCredential } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { LastUsed } from '../../platform/credentials/last-used.ts';
import { EMPTY_SECRET_HASH, hashSecret, isSameHash } from '../../platform/credentials/secrets.ts';
import type { FoundCredential } from '../../platform/credentials/store.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { RoleReader } from './assigned-roles.ts';
import { hasSystemRolesOnly, isActive, type Key } from './key.ts';
import { findKey, findKeyByHash, findKeyWithRevisions } from './store.ts';

/** Only after the secret was verified (decision M5). */
export const KEY_NOT_ACTIVE = 'Key is not active';

/** Compared with if the key id is unknown, so that the response takes as long as for a wrong secret. */
const DUMMY_SECRET_HASH = Buffer.from(EMPTY_SECRET_HASH);

type FoundKey = FoundCredential<Key>;

/** Throws `unauthorized` unless the secret matches and the key is active. */
export function verifyKey(found: FoundKey | undefined, keySecretHash: Buffer, now: number): FoundKey {
  const isMatch = isSameHash(keySecretHash, found ? Buffer.from(found.credential.keySecretHash) : DUMMY_SECRET_HASH);
  const refuse = (message: string, reason: RefusedCredential['reason']) =>
    new AppError('unauthorized', message, { refused: found && toRefused(found.credential, reason) });
  if (!found || !isMatch) throw refuse('Key is not found', 'secret not valid');
  if (!isActive(found.credential, now)) throw refuse(KEY_NOT_ACTIVE, 'not active');
  return found;
}

const toRefused = ({ organizationId, id, name }: Key, reason: RefusedCredential['reason']): RefusedCredential => ({
  organizationId,
  id,
  name,
  reason,
});

interface Options {
  db: Db;
  clock: Clock;
  lastUsed: LastUsed;
  roleReader: RoleReader;
}

/** An active key and, unless it has system roles only, what its roles allow. */
interface ActiveKey extends FoundKey {
  grants: Grants | undefined;
}

export type KeyVerifier = ReturnType<typeof createKeyVerifier>;

/** For sessions: checks a key at sign-in, and again for every request of the session. */
export function createKeyVerifier({ db, clock, lastUsed, roleReader }: Options) {
  /** Throws `unauthorized` if the key was deleted or disabled, or has expired. */
  async function getActive(organizationId: string, id: string): Promise<ActiveKey> {
    const found = await findKeyWithRevisions(db, organizationId, id);
    if (!found) throw new AppError('unauthorized', 'Key is not found');
    if (!isActive(found.credential, clock.now())) throw new AppError('unauthorized', KEY_NOT_ACTIVE);
    lastUsed.record(found.credential);
    const grants = hasSystemRolesOnly(found.credential)
      ? undefined
      : await roleReader.getGrants(found.credential, found.roleRevision);
    return { ...found, grants };
  }

  return {
    getActive,

    /** A key in any state. Its secret is not verified. */
    async findByHash(keyIdHash: string): Promise<Key | undefined> {
      return (await findKeyByHash(db, keyIdHash))?.credential;
    },

    /** A key in any state. */
    find: (organizationId: string, id: string): Promise<Key | undefined> => findKey(db, organizationId, id),

    /** Throws `unauthorized` unless the secret matches and the key is active. */
    async verify({ keyId, keySecret }: { keyId: string; keySecret: string }): Promise<ActiveKey> {
      const found = await findKeyByHash(db, hashSecret(keyId));
      const { credential } = verifyKey(found, Buffer.from(hashSecret(keySecret)), clock.now());
      return getActive(credential.organizationId, credential.id);
    },
  };
}
