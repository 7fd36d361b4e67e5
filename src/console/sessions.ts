import type { LastUsed } from '../credentials/last-used.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import type { KeyIdentities } from '../keys/identity.ts';
import { admits, type IpAccessEntry } from '../keys/key.ts';
import type { State } from '../state/state.ts';
import type { TokenIdentities } from '../tokens/identity.ts';
import {
  accessWith,
  type DashboardAccess,
  isAlive,
  isSessionSecret,
  LONGEST_MS,
  newSessionSecret,
  type Session,
  type SessionKind,
  sessionHashOf,
} from './session.ts';
import { deleteEndedSessions, deleteOldestSessions, deleteSession, findSession, insertSession } from './store.ts';

export type Credentials = { keyId: string; keySecret: string } | { token: string };

/** The credential behind a session, as it is now. */
export interface Holder {
  kind: SessionKind;
  organizationId: string;
  id: string;
  name: string;
  suffix: string;
  /** Of a key; a token has none. */
  roles: readonly string[];
  access: DashboardAccess;
  ipAccessList: readonly IpAccessEntry[];
  secretHash: string;
  expireAt: number | undefined;
  costRevision: number;
  dashboardRevision: number;
}

interface Options {
  state: State;
  clock: Clock;
  keys: KeyIdentities;
  tokens: TokenIdentities;
  lastSeen: LastUsed;
}

/** A credential that signs in more often than this ends its oldest sessions. */
const SESSIONS_PER_CREDENTIAL = 100;

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions({ state, clock, keys, tokens, lastSeen }: Options) {
  /** Throws `unauthorized` when the credential may no longer be used. */
  async function holderOf({ kind, organizationId, credentialId, secretHash }: Session): Promise<Holder> {
    if (kind === 'token') return tokenHolder(await tokens.recall(organizationId, credentialId));
    const holder = keyHolder(await keys.recall(organizationId, credentialId));
    if (holder.secretHash !== secretHash)
      throw new AppError('unauthorized', 'The secret of this key was replaced; sign in with the new one');
    return holder;
  }

  return {
    /** Who has these credentials; throws `unauthorized` when they are not good. */
    async identify(credentials: Credentials): Promise<Holder> {
      return 'token' in credentials
        ? tokenHolder(await tokens.identify(credentials.token))
        : keyHolder(await keys.identify(credentials));
    },

    /** Signs in. The secret is for the cookie and is kept nowhere; what was signed in with `previous` ends. */
    async open(holder: Holder, previous: string | undefined): Promise<{ session: Session; secret: string }> {
      const now = clock.now();
      const secret = newSessionSecret();
      const session: Session = {
        hash: sessionHashOf(secret),
        organizationId: holder.organizationId,
        kind: holder.kind,
        credentialId: holder.id,
        secretHash: holder.secretHash,
        createdAt: now,
        seenAt: now,
        expiresAt: Math.min(now + LONGEST_MS, holder.expireAt ?? Number.POSITIVE_INFINITY),
      };
      await state.write(async (tx) => {
        if (previous !== undefined) await deleteSession(tx, sessionHashOf(previous));
        await deleteEndedSessions(tx, now);
        await deleteOldestSessions(tx, session.organizationId, session.credentialId, SESSIONS_PER_CREDENTIAL - 1);
        await insertSession(tx, session);
      });
      return { session, secret };
    },

    /** Undefined where there is no such session, or it is over; throws `unauthorized` when its credential is no longer good. */
    async recall(secret: string): Promise<{ session: Session; holder: Holder } | undefined> {
      if (!isSessionSecret(secret)) return undefined;
      const session = await findSession(state.db, sessionHashOf(secret));
      if (!session || !isAlive(session, clock.now())) return undefined;
      const holder = await holderOf(session);
      lastSeen.note({ id: session.hash, organizationId: session.organizationId, usedAt: session.seenAt });
      return { session, holder };
    },

    /** Of a session that is there: nobody can make us write with a cookie of their own making. */
    async close(secret: string): Promise<void> {
      if (!isSessionSecret(secret) || !(await findSession(state.db, sessionHashOf(secret)))) return;
      await state.write((tx) => deleteSession(tx, sessionHashOf(secret)));
    },
  };
}

export const admitsAddress = (holder: Holder, address: string): boolean => admits(holder.ipAccessList, address);

function keyHolder({ key, costRevision, dashboardRevision }: Awaited<ReturnType<KeyIdentities['recall']>>): Holder {
  return {
    kind: 'key',
    organizationId: key.organizationId,
    id: key.id,
    name: key.name,
    suffix: key.keySuffix,
    roles: key.roles,
    access: accessWith(key.roles),
    ipAccessList: key.ipAccessList,
    secretHash: key.keySecretHash,
    expireAt: key.expireAt,
    costRevision,
    dashboardRevision,
  };
}

function tokenHolder({ token, dashboardRevision }: Awaited<ReturnType<TokenIdentities['recall']>>): Holder {
  return {
    kind: 'token',
    organizationId: token.organizationId,
    id: token.id,
    name: token.name,
    suffix: token.tokenSuffix,
    roles: [],
    access: token.access,
    ipAccessList: [],
    secretHash: '',
    expireAt: token.expireAt,
    costRevision: 0,
    dashboardRevision,
  };
}
