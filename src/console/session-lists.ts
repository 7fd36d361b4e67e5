import { AppError } from '../kernel/errors.ts';
import type { Clock } from '../kernel/time/clock.ts';
import type { Actor } from '../management/audit/activity.ts';
import type { Audit } from '../management/audit/audit.ts';
import { formatPerson } from '../management/members/member.ts';
import type { MemberVerifier } from '../management/members/verification.ts';
import { hashSecret } from '../platform/credentials/secrets.ts';
import type { State } from '../platform/state/state.ts';
import type { Db } from '../platform/state/tables.ts';
import type { Logout } from './oidc/provider-client.ts';
import { getSessionId, isAlive, type Session } from './session.ts';
import {
  deleteSession,
  expireRefresh,
  findSession,
  insertUsedToken,
  listProviderSessions,
  listSessions,
} from './store.ts';

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  members: MemberVerifier;
}

export type SessionLists = ReturnType<typeof createSessionLists>;

/** The open sessions of a person or key, and how they are ended from elsewhere. */
export function createSessionLists({ state, clock, audit, members }: Options) {
  async function list(credentialId: string, organizationId?: string): Promise<Session[]> {
    const sessions = await listSessions(state.db, credentialId, organizationId);
    return sessions.filter((session) => isAlive(session, clock.now()));
  }

  /** Each organization gets an activity for its own sessions. */
  async function endInTransaction(tx: Db, actor: Actor, sessions: readonly Session[]): Promise<void> {
    for (const { hash } of sessions) await deleteSession(tx, hash);
    for (const organizationId of new Set(sessions.map((session) => session.organizationId))) {
      const ended = sessions.filter((session) => session.organizationId === organizationId);
      const { kind, credentialId: id } = ended[0] as Session;
      const person = kind === 'member' ? await members.findUser(id) : undefined;
      await audit.record(tx, actor, {
        organizationId,
        type: 'console_sessions_end',
        resource: { type: 'session', id },
        before: { name: person ? formatPerson(person) : actor.details, sessions: ended.length },
      });
    }
  }

  const end = (actor: Actor, sessions: readonly Session[]): Promise<void> =>
    state.write((tx) => endInTransaction(tx, actor, sessions));

  /** Those to end: one of them, or all. Throws `not_found` if there is no such session. */
  function choose(sessions: readonly Session[], id: string | undefined): readonly Session[] {
    const chosen = id === undefined ? sessions : sessions.filter((session) => getSessionId(session) === id);
    if (id !== undefined && chosen.length === 0) throw new AppError('not_found', `session ${id} does not exist`);
    return chosen;
  }

  async function assertMember(organizationId: string, userId: string): Promise<void> {
    if (!(await members.find(organizationId, userId)))
      throw new AppError('not_found', `member ${userId} does not exist`);
  }

  return {
    /** Newest first: for a person in all of their organizations. */
    listOwn: ({ kind, credentialId, organizationId }: Session): Promise<Session[]> =>
      list(credentialId, kind === 'member' ? undefined : organizationId),

    async endOwn(actor: Actor, session: Session, id?: string): Promise<void> {
      await end(actor, choose(await this.listOwn(session), id));
    },

    /** The sessions of a member in this organization. */
    async listForMember(organizationId: string, userId: string): Promise<Session[]> {
      await assertMember(organizationId, userId);
      return list(userId, organizationId);
    },

    async endForMember(actor: Actor, organizationId: string, userId: string, id?: string): Promise<void> {
      await end(actor, choose(await this.listForMember(organizationId, userId), id));
    },

    /** Ends the sessions that a logout token names. Returns false if the token was used before. */
    async endForProvider(issuer: string, { tokenId, expiresAt, providerSession, subject }: Logout): Promise<boolean> {
      const user = subject === undefined ? undefined : await members.findUserBySubject(issuer, subject);
      return state.write(async (tx) => {
        if (!(await insertUsedToken(tx, hashSecret(`${issuer} ${tokenId}`), expiresAt, clock.now()))) return false;
        if (subject !== undefined && !user) return true;
        const sessions =
          providerSession === undefined
            ? user && (await listSessions(tx, user.id))
            : await listProviderSessions(tx, providerSession);
        const matching = (sessions ?? []).filter(({ credentialId }) => !user || credentialId === user.id);
        if (matching.length > 0) await endInTransaction(tx, PROVIDER, matching);
        return true;
      });
    },

    /**
     * A page of the provider says, without a proof, that its session has ended. It ends here if the request has the cookie of
     * the session; otherwise the provider is asked with the next request of the session.
     */
    async endOrAskProvider(providerSession: string, secret: string | undefined): Promise<void> {
      const own = secret === undefined ? undefined : await findSession(state.db, hashSecret(secret));
      if (own?.providerSession === providerSession) await end(PROVIDER, [own]);
      await state.write((tx) => expireRefresh(tx, providerSession));
    },
  };
}

const PROVIDER: Actor = { type: 'system', id: 'identity-provider', details: 'Identity provider' };
