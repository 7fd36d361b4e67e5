import { AppError } from '../../kernel/errors.ts';
import { memoize } from '../../kernel/memo.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { isExpired } from '../../platform/credentials/expiry.ts';
import type { LastUsed } from '../../platform/credentials/last-used.ts';
import { hashSecret } from '../../platform/credentials/secrets.ts';
import type { FoundCredential } from '../../platform/credentials/store.ts';
import type { Authenticate, Identity } from '../../platform/http/guard.ts';
import type { Db } from '../../platform/state/tables.ts';
import { findTokenByHash } from './store.ts';
import type { Token } from './token.ts';

const UNAUTHORIZED = 'Unauthorized access. API key is missing or invalid.';

interface Options {
  db: Db;
  clock: Clock;
  lastUsed: LastUsed;
  /** The token in an Authorization header; undefined if there is none. */
  readToken?: (header: string) => string | undefined;
}

const readBearer = (header: string): string | undefined => /^bearer +(\S+)\s*$/i.exec(header)?.[1];

/** Also a token alone, as collectors and SDKs of ClickStack send it. */
export const readBearerOrBare = (header: string): string | undefined =>
  readBearer(header) ?? /^\s*(\S+)\s*$/.exec(header)?.[1];

/** Bearer token → identity. The token is read for every request, so a deleted one is rejected at once, on every node. */
export function createTokenAuthentication({ db, clock, lastUsed, readToken = readBearer }: Options): Authenticate {
  // Hashes never go stale. Invalid tokens are unlimited in number, so the cache is small.
  const hashToken = memoize((header) => {
    const text = readToken(header);
    return text === undefined ? '' : hashSecret(text);
  });
  return async (header = '') => {
    const tokenHash = hashToken(header);
    const found = tokenHash === '' ? undefined : await findTokenByHash(db, tokenHash);
    if (!found) throw new AppError('unauthorized', UNAUTHORIZED);
    const { organizationId, id, name, expireAt } = found.credential;
    if (isExpired(expireAt, clock.now()))
      throw new AppError('unauthorized', UNAUTHORIZED, { refused: { organizationId, id, name, reason: 'not active' } });
    lastUsed.record(found.credential);
    return toIdentity(found);
  };
}

const toIdentity = ({ credential: token, dashboardRevision }: FoundCredential<Token>): Identity => ({
  organizationId: token.organizationId,
  revisions: { costs: 0, dashboards: dashboardRevision },
  credentialId: token.id,
  credentialName: token.name,
  suffix: token.tokenSuffix,
  roles: [token.access],
  allowsAddress: undefined,
});

/** The error for a read-only token on an operation that needs write access. */
export const needsWriteToken = (): string => 'This operation needs a read-write token; this token is read-only';
