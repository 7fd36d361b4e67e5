import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { isStorable } from '../../kernel/text.ts';
import { isoSeconds } from '../../kernel/time/clock.ts';
import { isMailAddress } from '../../platform/notifications/senders/email.ts';
import { MAX_CUSTOM_ROLES_PER_KEY, type RoleChoice } from '../keys/assigned-roles.ts';
import { AssignedRoleRecord } from '../keys/schema.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import { type Invitation, isAdmin, type Member } from './member.ts';
import type { Described } from './members.ts';

export const MemberPath = Type.Object({
  ...OrganizationPath.properties,
  userId: Type.String({ format: 'uuid' }),
});

export const InvitationPath = Type.Object({
  ...OrganizationPath.properties,
  invitationId: Type.String({ format: 'uuid' }),
});

const MEMBER_ROLES = ['admin', 'developer'] as const;
const DeprecatedRole = Type.Enum([...MEMBER_ROLES], {
  deprecated: true,
  description: 'A system role; use assignedRoleIds for all roles',
});

const RoleChoiceMembers = (emptyMeaning: string) => ({
  role: Type.Optional(DeprecatedRole),
  assignedRoleIds: Type.Optional(
    Type.Array(Type.String({ format: 'uuid' }), {
      maxItems: MAX_CUSTOM_ROLES_PER_KEY,
      uniqueItems: true,
      description: `System and custom roles by id. ${emptyMeaning}`,
    }),
  ),
});

export const UpdateMemberBody = NamedObject(
  'MemberPatchRequest',
  RoleChoiceMembers('Replaces the assigned roles; empty removes them all'),
);

export const CreateInvitationBody = NamedObject('InvitationPostRequest', {
  email: Type.Refine(
    Type.String({ maxLength: 254, description: 'The address that the identity provider has verified for the person' }),
    (value) => typeof value !== 'string' || (isMailAddress(value) && isStorable(value)),
    () => 'The value must be an e-mail address',
  ),
  ...RoleChoiceMembers('Empty means the default, developer'),
});

const AssignedRoles = Type.Array(AssignedRoleRecord, { description: 'All roles' });

export const MemberRecord = NamedObject('Member', {
  userId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  email: Type.String({ description: 'Empty if the identity provider sent none' }),
  role: DeprecatedRole,
  joinedAt: Type.String({ format: 'date-time' }),
  assignedRoles: AssignedRoles,
  roleIdsByRules: Type.Array(Type.String({ format: 'uuid' }), {
    description: 'Those of the roles that the member rules give; they cannot be removed here',
  }),
  lastSeenAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'One-minute precision; absent until the first request' }),
  ),
});

const INVITATION_MEMBERS = {
  id: Type.String({ format: 'uuid' }),
  email: Type.String(),
  role: DeprecatedRole,
  createdAt: Type.String({ format: 'date-time' }),
  expireAt: Type.String({ format: 'date-time' }),
  assignedRoles: AssignedRoles,
};

export const InvitationRecord = NamedObject('Invitation', INVITATION_MEMBERS);

export const CreatedInvitation = NamedObject('CreatedInvitation', {
  ...INVITATION_MEMBERS,
  path: Type.Optional(Type.String({ description: 'The page of the invitation, with its secret; returned once' })),
  mail: Type.Optional(
    Type.Enum(['sent', 'failed', 'off'], {
      description: 'Whether the link was sent by mail; off without --smtp-url or --public-url',
    }),
  ),
});

const toRole = (item: Member | Invitation) => (isAdmin(item) ? 'admin' : 'developer');

export function toMemberRecord({ item, assignedRoles }: Described<Member>): Static<typeof MemberRecord> {
  const { id, name, email, joinedAt, seenAt, byRules } = item;
  const isByRule = ({ roleId, roleName }: (typeof assignedRoles)[number]) =>
    byRules?.customRoleIds?.includes(roleId) || byRules?.roles.some((role) => role === roleName);
  return {
    userId: id,
    name,
    email,
    role: toRole(item),
    joinedAt: isoSeconds(joinedAt),
    assignedRoles,
    roleIdsByRules: assignedRoles.filter(isByRule).map(({ roleId }) => roleId),
    ...(seenAt === undefined ? undefined : { lastSeenAt: isoSeconds(seenAt) }),
  };
}

export function toInvitationRecord({ item, assignedRoles }: Described<Invitation>): Static<typeof InvitationRecord> {
  const { id, email, createdAt, expireAt } = item;
  return {
    id,
    email,
    role: toRole(item),
    createdAt: isoSeconds(createdAt),
    expireAt: isoSeconds(expireAt),
    assignedRoles,
  };
}

/** The public interface has one deprecated role, where keys have a list. */
export const toRoleChoice = ({ role, assignedRoleIds }: Static<typeof UpdateMemberBody>): RoleChoice => ({
  ...(role && { roles: [role] }),
  ...(assignedRoleIds && { assignedRoleIds }),
});
