import { AppError } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import { cutCharacters, isStorable } from '../../kernel/text.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { isExpired } from '../../platform/credentials/expiry.ts';
import { hashSecret } from '../../platform/credentials/secrets.ts';
import type { State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import { type Actor, difference } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import type { Organizations } from '../organizations/organizations.ts';
import {
  type Claims,
  findVerifiedEmail,
  formatInviter,
  formatPerson,
  type Invitation,
  isSameSet,
  isWithin,
  listRoleKeys,
  MAX_MEMBERS,
  type Member,
  matchRules,
  type RoleSet,
  type User,
  unite,
} from './member.ts';
import {
  countMembers,
  deleteInvitation,
  deleteMember,
  findInvitation,
  findInvitationByHash,
  findMember,
  findUserBySubject,
  getInvitedAccount,
  insertMember,
  insertUser,
  listInvitationsTo,
  listMemberships,
  updateMember,
  updateUser,
} from './store.ts';

/** A person as an identity provider knows them. */
export interface Person {
  issuer: string;
  subject: string;
  claims: Claims;
}

type Origin = Pick<Actor, 'address' | 'userAgent' | 'requestId'>;

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  /** Ends the console sessions of a member. */
  endSessions(tx: Db, organizationId: string, userId: string): Promise<void>;
}

const MAX_NAME_CHARACTERS = 255;
const UNKNOWN_INVITATION = 'This invitation is not valid: it was used or deleted, or it has expired. Ask for a new one';
const CHANGED_MEMBER =
  'The roles of this member have changed since the invitation was made, so its link does not sign in. Ask for a new invitation';
const RULES_ACTOR: Actor = { type: 'system', id: 'member-rules', details: 'Member rules' };

export type Admission = ReturnType<typeof createAdmission>;

/** Decides which organizations a person belongs to: by the member rules of each one, or by an invitation. */
export function createAdmission({ state, clock, audit, organizations, endSessions }: Options) {
  /** The account of a person, with the name and the address that the provider has now. */
  async function saveUser({ issuer, subject, claims }: Person): Promise<User> {
    const described = describeUser(subject, claims);
    const stored = await findUserBySubject(state.db, issuer, subject);
    if (stored && stored.email === described.email && stored.name === described.name) return stored;
    return state.write(async (tx) => {
      await insertUser(tx, { id: newUuid(), issuer, subject, ...described, createdAt: clock.now() });
      const user = { ...((await findUserBySubject(tx, issuer, subject)) as User), ...described };
      await updateUser(tx, user);
      return user;
    });
  }

  /** Writes only if something changes. */
  async function applyTo(organizationId: string, user: User, granted: Granted, actor: Actor): Promise<void> {
    const before = await findMember(state.db, organizationId, user.id);
    if (granted.invitations.length === 0 && isSameSet(before?.byRules, granted.byRules)) return;
    await state.write(async (tx) => {
      await organizations.lock(tx, organizationId);
      const accepted = await acceptInvitations(tx, granted.invitations);
      const member = await findMember(tx, organizationId, user.id);
      const assigned = accepted.length > 0 ? unite(member?.assigned, ...accepted) : member?.assigned;
      const after = { ...member, assigned, byRules: granted.byRules };
      await save(tx, { organizationId, user, member, after, invitations: accepted }, actor);
    });
  }

  /** Those that another request has not accepted or deleted meanwhile. */
  async function acceptInvitations(tx: Db, invitations: readonly Invitation[]): Promise<Invitation[]> {
    const accepted: Invitation[] = [];
    for (const { organizationId, id } of invitations) {
      const invitation = await findInvitation(tx, organizationId, id);
      if (invitation && (await deleteInvitation(tx, organizationId, id))) accepted.push(invitation);
    }
    return accepted;
  }

  async function save(tx: Db, { organizationId, user, member, after, invitations }: Membership, actor: Actor) {
    const { assigned, byRules } = after;
    const resource = { type: 'member', id: user.id } as const;
    const name = formatPerson(user);
    const by = invitations.length > 0 ? actor : RULES_ACTOR;
    const inviters = describeInviters(invitations);
    if (!assigned && !byRules) {
      if (!member) return;
      await deleteMember(tx, organizationId, user.id);
      const before = { name, roles: listRoleKeys(member) };
      await audit.record(tx, by, { organizationId, type: 'organization_member_delete', resource, before });
      return;
    }
    const roles = listRoleKeys(unite(assigned, byRules));
    if (!member) {
      if ((await countMembers(tx, organizationId)) >= MAX_MEMBERS)
        throw new AppError('conflict', `The organization has reached its limit of ${MAX_MEMBERS} members`);
      const joined = { id: user.id, organizationId, joinedAt: clock.now(), seenAt: undefined, assigned, byRules };
      await insertMember(tx, { ...joined, email: user.email, name: user.name, roles: [] });
      const type = invitations.length > 0 ? 'organization_member_join' : 'organization_member_add';
      await audit.record(tx, by, { organizationId, type, resource, after: { name, roles, ...inviters } });
      return;
    }
    await updateMember(tx, { ...member, assigned, byRules });
    const changed = difference({ roles: listRoleKeys(member) }, { roles });
    if (Object.keys(changed.after).length === 0) return;
    await audit.record(tx, by, {
      organizationId,
      type: 'organization_member_update_roles',
      resource,
      before: changed.before,
      after: { name, ...changed.after, ...inviters },
    });
  }

  return {
    /**
     * Applies the rules of all organizations to a person and accepts the invitations to their verified address. Returns the
     * memberships, oldest first: none means that no organization admits the person.
     */
    async admit(person: Person, origin: Origin): Promise<{ user: User; memberships: Member[] }> {
      const { claims } = person;
      const user = await saveUser(person);
      const email = findVerifiedEmail(claims);
      const invitations = email === undefined ? [] : await listInvitationsTo(state.db, email, clock.now());
      const rules = new Map(
        (await organizations.listWithMemberRules()).map(({ id, memberRules }) => [id, memberRules]),
      );
      const current = await listMemberships(state.db, user.id);
      const organizationIds = new Set([
        ...rules.keys(),
        ...invitations.map(({ organizationId }) => organizationId),
        ...current.map(({ organizationId }) => organizationId),
      ]);
      const actor: Actor = { type: 'user', id: user.id, details: formatPerson(user), ...origin };
      for (const id of organizationIds) {
        const byRules = matchRules(rules.get(id) ?? [], claims);
        const granted = { byRules, invitations: invitations.filter(({ organizationId }) => organizationId === id) };
        await applyTo(id, user, granted, actor);
      }
      return { user, memberships: await listMemberships(state.db, user.id) };
    },

    /** The invitation of a link. Throws `unauthorized`. */
    async getInvitation(secret: string): Promise<Invitation> {
      const invitation = await findInvitationByHash(state.db, hashSecret(secret));
      if (!invitation || isExpired(invitation.expireAt, clock.now()))
        throw new AppError('unauthorized', UNKNOWN_INVITATION);
      return invitation;
    },

    /** Accepts the invitation of a link without an identity provider: the account belongs to the organization alone. */
    async accept(secret: string, origin: Origin): Promise<{ user: User; invitation: Invitation }> {
      const invitation = await this.getInvitation(secret);
      const { organizationId, email } = invitation;
      const user = await saveUser({ ...getInvitedAccount(invitation), claims: { email } });
      const actor: Actor = { type: 'user', id: user.id, details: formatPerson(user), ...origin };
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const accepted = await acceptInvitations(tx, [invitation]);
        if (accepted.length === 0) throw new AppError('unauthorized', UNKNOWN_INVITATION);
        const member = await findMember(tx, organizationId, user.id);
        // The inviter was not checked for roles that the member got later.
        if (member && !isWithin(member, unite(invitation, invitation.approved)))
          throw new AppError('conflict', CHANGED_MEMBER);
        const after = { ...member, assigned: unite(member?.assigned, ...accepted), byRules: member?.byRules };
        // An earlier link may have been opened by another person, who must not gain these roles.
        if (member && !isWithin(invitation, member)) await endSessions(tx, organizationId, user.id);
        await save(tx, { organizationId, user, member, after, invitations: accepted }, actor);
      });
      return { user, invitation };
    },
  };
}

interface Granted {
  byRules: RoleSet | undefined;
  invitations: readonly Invitation[];
}

interface Membership {
  organizationId: string;
  user: User;
  member: Member | undefined;
  after: Pick<Member, 'assigned' | 'byRules'>;
  /** Those that were accepted. */
  invitations: readonly Invitation[];
}

/** For the audit log. */
const describeInviters = (invitations: readonly Invitation[]): { invitedBy?: string } => {
  const names = invitations.flatMap(({ invitedBy }) => (invitedBy ? [formatInviter(invitedBy)] : []));
  return names.length > 0 ? { invitedBy: names.join(', ') } : {};
};

function describeUser(subject: string, { email, name, preferred_username }: Claims): Pick<User, 'email' | 'name'> {
  const pick = (...values: unknown[]) =>
    values.find((value): value is string => typeof value === 'string' && value.trim() !== '' && isStorable(value));
  return {
    email: cutCharacters(pick(email) ?? '', MAX_NAME_CHARACTERS),
    name: cutCharacters(pick(name, preferred_username, email) ?? subject, MAX_NAME_CHARACTERS),
  };
}
