import type { LastUsed } from '../credentials/last-used.ts';
import { hashOf } from '../credentials/secrets.ts';
import type { Authenticate, Identity } from '../http/guard.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { mapMaybe } from '../kernel/maybe-promise.ts';
import { memoize, memoizeByObject } from '../kernel/memo.ts';
import type { Db } from '../state/tables.ts';
import { findTokenByHash, type IdentifiedToken } from './store.ts';
import { ACCESS_ROLES } from './token.ts';

const REFUSAL = 'Unauthorized access. API key is missing or invalid.';

interface Options {
  db: Db;
  clock: Clock;
  lastUsed: LastUsed;
}

/** Bearer token → caller. The token is looked up for every request, so a revoked one stops at once, on every node. */
export function createTokenAuthentication({ db, clock, lastUsed }: Options): Authenticate {
  // Arithmetic, which no change of a token can make wrong; wrong tokens come in any number, so few are kept.
  const hashIn = memoize((header) => {
    const text = /^bearer +(\S+)\s*$/i.exec(header)?.[1];
    return text === undefined ? '' : hashOf(text);
  });
  return (header = '') => {
    const tokenHash = hashIn(header);
    return mapMaybe(tokenHash === '' ? undefined : findTokenByHash(db, tokenHash), (found) => {
      if (!found || (found.token.expireAt !== undefined && found.token.expireAt <= clock.now()))
        throw new AppError('unauthorized', REFUSAL);
      lastUsed.note(found.token);
      return callerWith(found);
    });
  };
}

const callerWith = memoizeByObject(
  ({ token, dashboardRevision }: IdentifiedToken): Identity => ({
    organizationId: token.organizationId,
    revisions: { costs: 0, dashboards: dashboardRevision },
    credentialId: token.id,
    credentialName: token.name,
    suffix: token.tokenSuffix,
    roles: ACCESS_ROLES[token.access],
    allowsAddress: undefined,
  }),
);

/** Why a token that may only read is refused. */
export const needsWriteToken = (): string =>
  'This operation makes a change: it needs a read-write token, and this token may only read';
