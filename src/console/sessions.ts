import { createGrants, type Grants, getGrantedDashboardAccess } from '../kernel/access/grants.ts';
import { type DashboardAccess, getDashboardAccess, type Role } from '../kernel/access/roles.ts';
import { AppError } from '../kernel/errors.ts';
import type { Clock } from '../kernel/time/clock.ts';
import type { Actor } from '../management/audit/activity.ts';
import type { Audit } from '../management/audit/audit.ts';
import type { IpAccessEntry } from '../management/keys/key.ts';
import type { KeyVerifier } from '../management/keys/verification.ts';
import type { TokenVerifier } from '../observability/tokens/verification.ts';
import type { LastUsed } from '../platform/credentials/last-used.ts';
import { hashSecret, isSessionSecret, newSessionSecret } from '../platform/credentials/secrets.ts';
import type { State } from '../platform/state/state.ts';
import type { Origin } from './failed-sign-ins.ts';
import { isAlive, MAX_SESSION_MS, type Session, type SessionKind } from './session.ts';
import { deleteEndedSessions, deleteOldestSessions, deleteSession, findSession, insertSession } from './store.ts';

export type SignInCredentials = { keyId: string; keySecret: string } | { token: string };

/** The key or token of a session in its current state. */
export interface SessionCredential {
  kind: SessionKind;
  organizationId: string;
  id: string;
  name: string;
  suffix: string;
  roles: readonly Role[];
  /** Undefined if the roles decide alone. */
  grants: Grants | undefined;
  /** The names of all roles of a key. */
  roleNames: readonly string[];
  /** The operations of `/v1` and `/api/v2` that the credential may use. */
  operations: readonly string[];
  dashboardAccess: DashboardAccess;
  ipAccessList: readonly IpAccessEntry[];
  secretHash: string;
  expireAt: number | undefined;
  costRevision: number;
  dashboardRevision: number;
}

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  keys: KeyVerifier;
  tokens: TokenVerifier;
  lastSeen: LastUsed;
}

/** A further sign-in ends the oldest session of the credential. */
const MAX_SESSIONS_PER_CREDENTIAL = 100;

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions({ state, clock, audit, keys, tokens, lastSeen }: Options) {
  /** Throws `unauthorized` if the credential is no longer valid. */
  async function getCredential({
    kind,
    organizationId,
    credentialId,
    secretHash,
  }: Session): Promise<SessionCredential> {
    if (kind === 'token') return fromToken(await tokens.getActive(organizationId, credentialId));
    const credential = fromKey(await keys.getActive(organizationId, credentialId));
    if (credential.secretHash !== secretHash)
      throw new AppError('unauthorized', 'The secret of this key was replaced; sign in with the new one');
    return credential;
  }

  return {
    /** Throws `unauthorized` if the credentials are not valid. */
    async verify(credentials: SignInCredentials): Promise<SessionCredential> {
      return 'token' in credentials
        ? fromToken(await tokens.verify(credentials.token))
        : fromKey(await keys.verify(credentials));
    },

    /** The credential of a rejected sign-in, in any state; undefined if the key id or token is unknown. */
    findCredential: (
      kind: SessionKind,
      hash: string,
    ): Promise<{ organizationId: string; id: string; name: string } | undefined> =>
      kind === 'key' ? keys.findByHash(hash) : tokens.findByHash(hash),

    /** Signs in. The secret is for the cookie and is not stored. Ends the session of the `previous` secret. */
    async open(
      actor: Actor,
      credential: SessionCredential,
      previous: string | undefined,
    ): Promise<{ session: Session; secret: string }> {
      const now = clock.now();
      const secret = newSessionSecret();
      const session: Session = {
        hash: hashSecret(secret),
        organizationId: credential.organizationId,
        kind: credential.kind,
        credentialId: credential.id,
        secretHash: credential.secretHash,
        createdAt: now,
        seenAt: now,
        expiresAt: Math.min(now + MAX_SESSION_MS, credential.expireAt ?? Number.POSITIVE_INFINITY),
      };
      await state.write(async (tx) => {
        if (previous !== undefined) await deleteSession(tx, hashSecret(previous));
        await deleteEndedSessions(tx, now);
        await deleteOldestSessions(tx, session.organizationId, session.credentialId, MAX_SESSIONS_PER_CREDENTIAL - 1);
        await insertSession(tx, session);
        await audit.record(tx, actor, {
          organizationId: session.organizationId,
          type: 'console_sign_in',
          resource: { type: 'session', id: credential.id },
          after: { name: credential.name, credential: credential.kind },
        });
      });
      return { session, secret };
    },

    /** Undefined if the session does not exist or has ended. Throws `unauthorized` if its credential is no longer valid. */
    async find(secret: string): Promise<{ session: Session; credential: SessionCredential } | undefined> {
      if (!isSessionSecret(secret)) return undefined;
      const session = await findSession(state.db, hashSecret(secret));
      if (!session || !isAlive(session, clock.now())) return undefined;
      const credential = await getCredential(session);
      lastSeen.record({ id: session.hash, organizationId: session.organizationId, usedAt: session.seenAt });
      return { session, credential };
    },

    /**
     * Signs out. Returns false if the session does not exist or has ended. Writes only if there is one, so a made-up cookie
     * causes no write.
     */
    async close(secret: string, origin: Origin): Promise<boolean> {
      const session = isSessionSecret(secret) ? await findSession(state.db, hashSecret(secret)) : undefined;
      if (!session) return false;
      const { organizationId, kind, credentialId: id } = session;
      const credential = await (kind === 'key' ? keys : tokens).find(organizationId, id);
      const name = credential?.name ?? id;
      return state.write(async (tx) => {
        if (!(await deleteSession(tx, session.hash)) || !isAlive(session, clock.now())) return false;
        await audit.record(
          tx,
          { type: 'api', id, details: name, ...origin },
          {
            organizationId,
            type: 'console_sign_out',
            resource: { type: 'session', id },
            before: { name, credential: kind },
          },
        );
        return true;
      });
    },
  };
}

function fromKey({
  credential: key,
  grants,
  costRevision,
  dashboardRevision,
}: Awaited<ReturnType<KeyVerifier['verify']>>): SessionCredential {
  return {
    kind: 'key',
    organizationId: key.organizationId,
    id: key.id,
    name: key.name,
    suffix: key.keySuffix,
    roles: key.roles,
    grants,
    roleNames: [...key.roles, ...(grants?.customRoleNames ?? [])],
    operations: (grants ?? createGrants(key.roles, [])).listOperations(),
    dashboardAccess: grants ? getGrantedDashboardAccess(grants) : getDashboardAccess(key.roles),
    ipAccessList: key.ipAccessList,
    secretHash: key.keySecretHash,
    expireAt: key.expireAt,
    costRevision,
    dashboardRevision,
  };
}

function fromToken({
  credential: token,
  dashboardRevision,
}: Awaited<ReturnType<TokenVerifier['verify']>>): SessionCredential {
  return {
    kind: 'token',
    organizationId: token.organizationId,
    id: token.id,
    name: token.name,
    suffix: token.tokenSuffix,
    roles: [token.access],
    grants: undefined,
    roleNames: [],
    operations: [],
    dashboardAccess: getDashboardAccess([token.access]),
    ipAccessList: [],
    secretHash: '',
    expireAt: token.expireAt,
    costRevision: 0,
    dashboardRevision,
  };
}
