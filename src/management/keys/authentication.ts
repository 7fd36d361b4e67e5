import { AppError } from '../../kernel/errors.ts';
import { createLargeCache } from '../../kernel/memo.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { LastUsed } from '../../platform/credentials/last-used.ts';
import { hashSecret } from '../../platform/credentials/secrets.ts';
import type { Authenticate, Identity } from '../../platform/http/guard.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { RoleReader } from './assigned-roles.ts';
import { hasSystemRolesOnly, isAddressAllowed, type Key } from './key.ts';
import { findKeyByHash } from './store.ts';
import { verifyKey } from './verification.ts';

interface Hashes {
  keyIdHash: string;
  keySecretHash: Buffer;
}

const MAX_CACHED_HEADERS = 10_000;

interface Options {
  db: Db;
  clock: Clock;
  lastUsed: LastUsed;
  roleReader: RoleReader;
}

/**
 * Basic credentials → identity. The key is read for every request, so a key that was disabled, changed or deleted on
 * any node is rejected from the next request on. Only the hashes of accepted headers are cached; they never go stale.
 * Custom roles are cached until the revision that is read with the key changes.
 */
export function createKeyAuthentication({ db, clock, lastUsed, roleReader }: Options): Authenticate {
  const cache = createLargeCache<string, Hashes>(MAX_CACHED_HEADERS);
  return async (header) => {
    if (header === undefined) throw new AppError('unauthorized', 'No Authorization header provided');
    const cached = cache.get(header);
    const hashes = cached ?? parseBasicHeader(header);
    const found = await findKeyByHash(db, hashes.keyIdHash);
    const { credential, costRevision, roleRevision } = verifyKey(found, hashes.keySecretHash, clock.now());
    if (!cached) cache.set(header, hashes);
    lastUsed.record(credential);
    const identity = toIdentity(credential, costRevision);
    if (hasSystemRolesOnly(credential)) return identity;
    return { ...identity, grants: await roleReader.getGrants(credential, roleRevision) };
  };
}

const toIdentity = (key: Key, costRevision: number): Identity => ({
  organizationId: key.organizationId,
  revisions: { costs: costRevision, dashboards: 0 },
  credentialId: key.id,
  credentialName: key.name,
  suffix: key.keySuffix,
  roles: key.roles,
  allowsAddress: key.ipAccessList.length === 0 ? undefined : (address) => isAddressAllowed(key.ipAccessList, address),
});

function parseBasicHeader(header: string): Hashes {
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2})\s*$/i.exec(header)?.[1];
  const text = encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text?.indexOf(':') ?? -1;
  if (text === undefined || colon < 0) throw new AppError('unauthorized', 'Malformed Authorization header');
  // Earlier versions accepted the hash of an empty secret.
  if (colon === text.length - 1) throw new AppError('unauthorized', 'Key is not found');
  return {
    keyIdHash: hashSecret(text.slice(0, colon)),
    keySecretHash: Buffer.from(hashSecret(text.slice(colon + 1))),
  };
}
