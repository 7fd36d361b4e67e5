import type { LastUsed } from '../credentials/last-used.ts';
import { hashOf } from '../credentials/secrets.ts';
import type { Authenticate, Identity } from '../http/guard.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { mapMaybe } from '../kernel/maybe-promise.ts';
import { memoizeByObject } from '../kernel/memo.ts';
import type { Db } from '../state/tables.ts';
import { provenKey } from './identity.ts';
import { admits } from './key.ts';
import { findKeyByHash, type Identified } from './store.ts';

interface Hashes {
  keyIdHash: string;
  keySecretHash: Buffer;
}

const REMEMBERED_HEADERS = 10_000;

/**
 * Basic credentials → caller. The key is looked up for every request, so a key that was disabled, changed or deleted
 * on any node is refused from the next request on. What is remembered here is only the hashing of a header that
 * was good before: that is arithmetic, which no change of the key can make wrong.
 */
export function createKeyAuthentication({
  db,
  clock,
  lastUsed,
}: {
  db: Db;
  clock: Clock;
  lastUsed: LastUsed;
}): Authenticate {
  const known = new Map<string, Hashes>();
  return (header) => {
    if (header === undefined) throw new AppError('unauthorized', 'No Authorization header provided');
    const remembered = known.get(header);
    const hashes = remembered ?? hashesIn(header);
    return mapMaybe(findKeyByHash(db, hashes.keyIdHash), (candidate) => {
      const found = provenKey(candidate, hashes.keySecretHash, clock.now());
      if (!remembered) {
        if (known.size >= REMEMBERED_HEADERS) known.clear();
        known.set(header, hashes);
      }
      lastUsed.note(found.key);
      return callerWith(found);
    });
  };
}

const callerWith = memoizeByObject(
  ({ key, costRevision }: Identified): Identity => ({
    organizationId: key.organizationId,
    revisions: { costs: costRevision, dashboards: 0 },
    credentialId: key.id,
    credentialName: key.name,
    suffix: key.keySuffix,
    roles: key.roles,
    allowsAddress: key.ipAccessList.length === 0 ? undefined : (address) => admits(key.ipAccessList, address),
  }),
);

function hashesIn(header: string): Hashes {
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2})\s*$/i.exec(header)?.[1];
  const text = encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text?.indexOf(':') ?? -1;
  if (text === undefined || colon < 0) throw new AppError('unauthorized', 'Malformed Authorization header');
  return { keyIdHash: hashOf(text.slice(0, colon)), keySecretHash: Buffer.from(hashOf(text.slice(colon + 1))) };
}
