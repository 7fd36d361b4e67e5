import { prepared } from '../../platform/state/prepared.ts';
import type { InvitationRow, MemberRow, UserRow } from '../../platform/state/tables/member-tables.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { MemberRule } from '../organizations/organization.ts';
import type { RoleHolder } from '../roles/role-holders.ts';
import { type Invitation, type Inviter, type Member, type RoleSet, toRoleSet, type User, unite } from './member.ts';

const toUser = ({ created_at, ...row }: UserRow): User => ({ ...row, createdAt: created_at });

type MemberWithUser = MemberRow & Pick<UserRow, 'email' | 'name'>;

const parseSet = (text: string): RoleSet | undefined => JSON.parse(text) ?? undefined;

function toMember(row: MemberWithUser): Member {
  const [assigned, byRules] = [parseSet(row.assigned), parseSet(row.by_rules)];
  return {
    id: row.user_id,
    organizationId: row.organization_id,
    email: row.email,
    name: row.name,
    joinedAt: row.joined_at,
    seenAt: row.seen_at ?? undefined,
    assigned,
    byRules,
    ...unite(assigned, byRules),
  };
}

const selectMembers = (db: Db) =>
  db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .selectAll('members')
    .select(['users.email', 'users.name']);

const selectWithRevisions = prepared((db: Db, value: { organizationId: string; userId: string }) =>
  selectMembers(db)
    .innerJoin('organizations', 'organizations.id', 'members.organization_id')
    .select(['organizations.cost_revision', 'organizations.dashboard_revision', 'organizations.role_revision'])
    .where('members.organization_id', '=', value.organizationId)
    .where('members.user_id', '=', value.userId),
);

/** A member, with the revisions of the organization, so that a request needs no other row of it. */
export const findMemberWithRevisions = (db: Db, organizationId: string, userId: string) =>
  selectWithRevisions.firstCached(db, { organizationId, userId }, (row) => ({
    member: toMember(row),
    costRevision: row.cost_revision,
    dashboardRevision: row.dashboard_revision,
    roleRevision: row.role_revision,
  }));

export const findMember = async (db: Db, organizationId: string, userId: string): Promise<Member | undefined> =>
  (await findMemberWithRevisions(db, organizationId, userId))?.member;

/** Oldest first. */
export async function listMembers(db: Db, organizationId: string): Promise<Member[]> {
  const rows = await selectMembers(db)
    .where('members.organization_id', '=', organizationId)
    .orderBy('members.joined_at')
    .orderBy('members.user_id')
    .execute();
  return rows.map(toMember);
}

/** In every organization, oldest first. */
export async function listMemberships(db: Db, userId: string): Promise<Member[]> {
  const rows = await selectMembers(db)
    .where('members.user_id', '=', userId)
    .orderBy('members.joined_at')
    .orderBy('members.organization_id')
    .execute();
  return rows.map(toMember);
}

export async function countMembers(db: Db, organizationId: string): Promise<number> {
  const { count } = await db
    .selectFrom('members')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

const formatSet = (set: RoleSet | undefined): string => JSON.stringify(set ?? null);

export async function insertMember(tx: Db, member: Member): Promise<void> {
  await tx
    .insertInto('members')
    .values({
      organization_id: member.organizationId,
      user_id: member.id,
      joined_at: member.joinedAt,
      seen_at: member.seenAt ?? null,
      assigned: formatSet(member.assigned),
      by_rules: formatSet(member.byRules),
    })
    .execute();
}

export async function updateMember(tx: Db, { organizationId, id, assigned, byRules }: Member): Promise<void> {
  await tx
    .updateTable('members')
    .set({ assigned: formatSet(assigned), by_rules: formatSet(byRules) })
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', id)
    .execute();
}

/** The user stays: activities and sessions of other organizations refer to it. */
export async function deleteMember(tx: Db, organizationId: string, userId: string): Promise<void> {
  await tx.deleteFrom('members').where('organization_id', '=', organizationId).where('user_id', '=', userId).execute();
}

/** Not limited to an organization: users belong to the identity provider. */
export async function findUserBySubject(db: Db, issuer: string, subject: string): Promise<User | undefined> {
  const row = await db
    .selectFrom('users')
    .selectAll()
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row && toUser(row);
}

/** The account that an invitation signs in without an identity provider. Each organization has its own. */
export const getInvitedAccount = ({ organizationId, email }: Pick<Invitation, 'organizationId' | 'email'>) => ({
  issuer: `invitation:${organizationId}`,
  subject: email,
});

/** The member that an invitation signs in without an identity provider, if the person has joined before. */
export async function findInvitedMember(
  db: Db,
  invitation: Pick<Invitation, 'organizationId' | 'email'>,
): Promise<Member | undefined> {
  const { issuer, subject } = getInvitedAccount(invitation);
  const user = await findUserBySubject(db, issuer, subject);
  return user && findMember(db, invitation.organizationId, user.id);
}

export async function findUser(db: Db, id: string): Promise<User | undefined> {
  const row = await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toUser(row);
}

/** Another node may have inserted it at the same time; then that row stays. */
export async function insertUser(tx: Db, { createdAt, ...user }: User): Promise<void> {
  await tx
    .insertInto('users')
    .values({ ...user, created_at: createdAt })
    .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doNothing())
    .execute();
}

export async function updateUser(tx: Db, { id, email, name }: User): Promise<void> {
  await tx.updateTable('users').set({ email, name }).where('id', '=', id).execute();
}

const toInvitation = (row: InvitationRow): Invitation => ({
  invitedBy: parseInviter(row.invited_by),
  approved: parseSet(row.approved_roles),
  id: row.id,
  organizationId: row.organization_id,
  email: row.email,
  secretHash: row.secret_hash,
  createdAt: row.created_at,
  expireAt: row.expire_at,
  ...(JSON.parse(row.roles) as RoleSet),
});

const parseInviter = (text: string): Inviter | undefined => JSON.parse(text) ?? undefined;

/** Oldest first, without those that have expired. */
export async function listInvitations(db: Db, organizationId: string, now: number): Promise<Invitation[]> {
  const rows = await db
    .selectFrom('invitations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('expire_at', '>', now)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toInvitation);
}

export async function findInvitation(db: Db, organizationId: string, id: string): Promise<Invitation | undefined> {
  const row = await db
    .selectFrom('invitations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toInvitation(row);
}

/** Not limited to an organization: the secret determines it. */
export async function findInvitationByHash(db: Db, secretHash: string): Promise<Invitation | undefined> {
  const row = await db.selectFrom('invitations').selectAll().where('secret_hash', '=', secretHash).executeTakeFirst();
  return row && toInvitation(row);
}

/** In every organization: the address was verified by the identity provider. */
export async function listInvitationsTo(db: Db, email: string, now: number): Promise<Invitation[]> {
  const rows = await db
    .selectFrom('invitations')
    .selectAll()
    .where('email', '=', email)
    .where('expire_at', '>', now)
    .orderBy('organization_id')
    .execute();
  return rows.map(toInvitation);
}

export async function insertInvitation(tx: Db, invitation: Invitation): Promise<void> {
  const { id, organizationId, email, secretHash, createdAt, expireAt, roles, customRoleIds } = invitation;
  const { invitedBy, approved } = invitation;
  await tx
    .insertInto('invitations')
    .values({
      organization_id: organizationId,
      id,
      email,
      secret_hash: secretHash,
      created_at: createdAt,
      expire_at: expireAt,
      roles: JSON.stringify({ roles, customRoleIds }),
      invited_by: JSON.stringify(invitedBy ?? null),
      approved_roles: formatSet(approved),
    })
    .execute();
}

/** Returns false if there is no such invitation. */
export async function deleteInvitation(tx: Db, organizationId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('invitations')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function deleteExpiredInvitations(tx: Db, organizationId: string, now: number): Promise<void> {
  await tx
    .deleteFrom('invitations')
    .where('organization_id', '=', organizationId)
    .where('expire_at', '<=', now)
    .execute();
}

/** The members, invitations and member rules that have a custom role. */
export async function listRoleHolders(
  db: Db,
  organizationId: string,
  roleId: string,
  now: number,
): Promise<RoleHolder[]> {
  const holds = ({ customRoleIds = [] }: RoleSet) => customRoleIds.includes(roleId);
  const members = (await listMembers(db, organizationId)).filter(holds);
  const invitations = (await listInvitations(db, organizationId, now)).filter(holds);
  const organization = await db
    .selectFrom('organizations')
    .select('member_rules')
    .where('id', '=', organizationId)
    .executeTakeFirst();
  const rules: MemberRule[] = JSON.parse(organization?.member_rules ?? '[]');
  return [
    ...rules
      .filter(({ roles }) => roles.includes(roleId))
      .map(({ claim, value, roles }) => ({ ...toRoleSet(roles), name: `the member rule ${claim}: ${value}` })),
    ...members.map((member) => ({ ...member, name: `the member ${member.name}` })),
    ...invitations.map((invitation) => ({ ...invitation, name: `the invitation of ${invitation.email}` })),
  ];
}
