import { AppError } from '../kernel/errors.ts';
import type { Clock } from '../kernel/time/clock.ts';
import type { Actor } from '../management/audit/activity.ts';
import type { Audit } from '../management/audit/audit.ts';
import type { KeyVerifier } from '../management/keys/verification.ts';
import { formatInviter, formatPerson, type Inviter, type User } from '../management/members/member.ts';
import type { MemberVerifier } from '../management/members/verification.ts';
import type { TokenVerifier } from '../observability/tokens/verification.ts';
import type { LastUsed } from '../platform/credentials/last-used.ts';
import { hashSecret, isSessionSecret, newSessionSecret } from '../platform/credentials/secrets.ts';
import type { State } from '../platform/state/state.ts';
import type { Origin } from './failed-sign-ins.ts';
import type { ProviderTokens } from './oidc/provider.ts';
import { sealTokens } from './oidc/sealed-tokens.ts';
import { isAlive, MAX_SESSION_MS, needsFreshSignIn, type Session, type SessionKind } from './session.ts';
import { fromKey, fromMember, fromToken, type SessionCredential } from './session-credential.ts';
import type { SessionRefresh } from './session-refresh.ts';
import {
  deleteEndedSessions,
  deleteOldestSessions,
  deleteSession,
  findSession,
  insertSession,
  updateSessionOrganization,
} from './store.ts';

export type SignInCredentials = { keyId: string; keySecret: string } | { token: string };

/** A sign-in at the identity provider. */
interface ProviderProof {
  providerSession: string;
  authenticatedAt: number;
  tokens: ProviderTokens;
}

/** Why a member may sign in without a secret of their own. */
interface SignInProof {
  proof?: ProviderProof | undefined;
  /** Of the invitation whose link was opened. */
  invitedBy?: Inviter | undefined;
}

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  keys: KeyVerifier;
  tokens: TokenVerifier;
  members: MemberVerifier;
  refresh: SessionRefresh;
  lastSeen: LastUsed;
  /** False: people sign in with the identity provider or by an invitation only. */
  allowsKeys: boolean;
}

/** A further sign-in ends the oldest session of the credential. */
const MAX_SESSIONS_PER_CREDENTIAL = 100;

interface OpenedSession {
  session: Session;
  secret: string;
}

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(options: Options) {
  const { state, clock, audit, keys, tokens, members, refresh, lastSeen, allowsKeys } = options;

  /** Throws `unauthorized` if the credential is no longer valid. */
  async function getCredential({
    kind,
    organizationId,
    credentialId,
    secretHash,
  }: Session): Promise<SessionCredential> {
    if (kind === 'member') return fromMember(await members.getActive(organizationId, credentialId));
    if (!allowsKeys) throw new AppError('unauthorized', KEYS_NOT_ALLOWED);
    if (kind === 'token') return fromToken(await tokens.getActive(organizationId, credentialId));
    const credential = fromKey(await keys.getActive(organizationId, credentialId));
    if (credential.secretHash !== secretHash)
      throw new AppError('unauthorized', 'The secret of this key was replaced; sign in with the new one');
    return credential;
  }

  async function findName({ kind, organizationId, credentialId }: Session): Promise<string> {
    if (kind === 'member') {
      const user = await members.findUser(credentialId);
      return user ? formatPerson(user) : credentialId;
    }
    const credential = await (kind === 'key' ? keys : tokens).find(organizationId, credentialId);
    return credential?.name ?? credentialId;
  }

  async function open(
    actor: Actor,
    credential: SessionCredential,
    previous: string | undefined,
    { proof, invitedBy }: SignInProof = {},
  ): Promise<OpenedSession> {
    const now = clock.now();
    const secret = newSessionSecret();
    const { address, userAgent } = actor;
    const session: Session = {
      hash: hashSecret(secret),
      organizationId: credential.organizationId,
      kind: credential.kind,
      credentialId: credential.id,
      secretHash: credential.secretHash,
      createdAt: now,
      seenAt: now,
      expiresAt: Math.min(now + MAX_SESSION_MS, credential.expireAt ?? Number.POSITIVE_INFINITY),
      providerSession: proof?.providerSession ?? '',
      authenticatedAt: proof?.authenticatedAt ?? 0,
      refreshedAt: now,
      details: { address, userAgent, ...(proof && { tokens: sealTokens(secret, proof.tokens) }) },
    };
    await state.write(async (tx) => {
      if (previous !== undefined) await deleteSession(tx, previous);
      await deleteEndedSessions(tx, now);
      await deleteOldestSessions(tx, session.organizationId, session.credentialId, MAX_SESSIONS_PER_CREDENTIAL - 1);
      await insertSession(tx, session);
      await audit.record(tx, actor, toSignIn(session.organizationId, credential, invitedBy));
    });
    return { session, secret };
  }

  return {
    /** Throws `unauthorized` if the credentials are not valid. */
    async verify(credentials: SignInCredentials): Promise<SessionCredential> {
      if (!allowsKeys) throw keysNotAllowed();
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
    open: (actor: Actor, credential: SessionCredential, previous: string | undefined): Promise<OpenedSession> =>
      open(actor, credential, previous === undefined ? undefined : hashSecret(previous)),

    /** Signs a member in. Ends the session with the hash `previous`. */
    async openForMember(
      user: User,
      organizationId: string,
      origin: Origin,
      { previous, ...proof }: SignInProof & { previous?: string | undefined },
    ): Promise<OpenedSession> {
      const credential = fromMember(await members.getActive(organizationId, user.id));
      const actor: Actor = { type: 'user', id: user.id, details: formatPerson(user), ...origin };
      return open(actor, credential, previous, proof);
    },

    /** The organizations of the person of a session; for a key or token, only its own. */
    async listOrganizationIds({ kind, organizationId, credentialId }: Session): Promise<string[]> {
      if (kind !== 'member') return [organizationId];
      return (await members.listMemberships(credentialId)).map((member) => member.organizationId);
    },

    /** Continues the session of a member in another organization. Throws `not_found` if the person does not belong to it. */
    async switchTo(session: Session, organizationId: string, origin: Origin): Promise<Session> {
      const member = session.kind === 'member' ? await members.find(organizationId, session.credentialId) : undefined;
      if (!member) throw new AppError('not_found', `organization ${organizationId} does not exist`);
      const actor: Actor = { type: 'user', id: member.id, details: formatPerson(member), ...origin };
      await state.write(async (tx) => {
        await updateSessionOrganization(tx, session.hash, organizationId);
        await audit.record(tx, actor, toSignIn(organizationId, member));
      });
      return { ...session, organizationId };
    },

    /** Undefined if the session does not exist or has ended. Throws `unauthorized` if its credential is no longer valid. */
    async find(secret: string): Promise<{ session: Session; credential: SessionCredential } | undefined> {
      if (!isSessionSecret(secret)) return undefined;
      const session = await findSession(state.db, hashSecret(secret));
      if (!session || !isAlive(session, clock.now())) return undefined;
      await refresh(session, secret);
      const credential = await getCredential(session);
      lastSeen.record({ id: session.hash, organizationId: session.organizationId, usedAt: session.seenAt });
      return { session, credential: { ...credential, needsFreshSignIn: needsFreshSignIn(session, clock.now()) } };
    },

    /**
     * Signs out. Undefined if the session does not exist or has ended. Writes only if there is one, so a made-up cookie
     * causes no write.
     */
    async close(secret: string, origin: Origin): Promise<Session | undefined> {
      const session = isSessionSecret(secret) ? await findSession(state.db, hashSecret(secret)) : undefined;
      if (!session) return undefined;
      const { organizationId, kind, credentialId: id } = session;
      const name = await findName(session);
      return state.write(async (tx) => {
        if (!(await deleteSession(tx, session.hash)) || !isAlive(session, clock.now())) return undefined;
        await audit.record(
          tx,
          { type: kind === 'member' ? 'user' : 'api', id, details: name, ...origin },
          {
            organizationId,
            type: 'console_sign_out',
            resource: { type: 'session', id },
            before: { name, credential: kind },
          },
        );
        return session;
      });
    },
  };
}

const toSignIn = (
  organizationId: string,
  { id, name, kind = 'member' }: { id: string; name: string; kind?: SessionKind },
  invitedBy?: Inviter,
) =>
  ({
    organizationId,
    type: 'console_sign_in',
    resource: { type: 'session', id },
    after: { name, credential: kind, ...(invitedBy && { invitedBy: formatInviter(invitedBy) }) },
  }) as const;

export const KEYS_NOT_ALLOWED = 'Sign-in with a key or token is turned off on this server; sign in as a member';
const keysNotAllowed = (): AppError => new AppError('forbidden', KEYS_NOT_ALLOWED);
