import { AppError, rejectViolations } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { formatExpiry, isExpired } from '../../platform/credentials/expiry.ts';
import { hashSecret, newInvitationSecret } from '../../platform/credentials/secrets.ts';
import type { InTransaction, State } from '../../platform/state/state.ts';
import type { Actor } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import {
  chooseNew,
  type Limited,
  listChoiceViolations,
  listMissingRoles,
  parseRoleChoice,
  type RoleChoice,
  type RoleReader,
} from '../keys/assigned-roles.ts';
import { DEFAULT_ROLES } from '../keys/key.ts';
import type { Organizations } from '../organizations/organizations.ts';
import { INVITATION_MS, type Invitation, listRoleKeys, MAX_INVITATIONS, unite } from './member.ts';
import type { Described, Members } from './members.ts';
import {
  deleteExpiredInvitations,
  deleteInvitation,
  findInvitation,
  findInvitedMember,
  insertInvitation,
  listInvitations,
  listMembers,
} from './store.ts';

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  roleReader: RoleReader;
  members: Members;
  /** Whether people sign in with an identity provider. Without one, an invitation is also how a member signs in again. */
  hasProvider: boolean;
}

export type Invitations = ReturnType<typeof createInvitations>;

export function createInvitations(options: Options) {
  const { state, clock, audit, organizations, roleReader, members, hasProvider } = options;

  return {
    /** Returns the secret of the link once; only its hash is stored. */
    async create(
      actor: Actor,
      organizationId: string,
      { email, caller, ...choice }: { email: string } & RoleChoice & Limited,
      inTransaction?: InTransaction<Described<Invitation>>,
    ): Promise<Described<Invitation> & { secret: string }> {
      const chosen = chooseNew(choice);
      rejectViolations(listChoiceViolations(chosen));
      const secret = newInvitationSecret();
      const now = clock.now();
      const requested = {
        id: newUuid(),
        organizationId,
        email: email.toLowerCase(),
        secretHash: hashSecret(secret),
        createdAt: now,
        expireAt: now + INVITATION_MS,
        ...(parseRoleChoice(chosen) ?? { roles: DEFAULT_ROLES, customRoleIds: undefined }),
        invitedBy: { id: actor.id, name: actor.details },
      };
      const described = await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        await deleteExpiredInvitations(tx, organizationId, now);
        rejectViolations(await listMissingRoles(roleReader, tx, organizationId, chosen));
        const member = hasProvider ? undefined : await findInvitedMember(tx, requested);
        const invitation: Invitation = { ...requested, approved: member && unite(member) };
        const subject = `The invitation of ${invitation.email}`;
        await members.assertGivable(tx, invitation, invitation, subject, { caller });
        // Its link signs in as this member.
        if (member) await members.assertGivable(tx, invitation, member, `The member ${member.name}`, { caller });
        const pending = await listInvitations(tx, organizationId, now);
        if (pending.some((other) => other.email === invitation.email))
          throw new AppError('conflict', `${email} is already invited; delete that invitation first`);
        if (pending.length >= MAX_INVITATIONS)
          throw new AppError(
            'conflict',
            `The organization has reached its limit of ${MAX_INVITATIONS} invitations; delete one first`,
          );
        if (
          hasProvider &&
          (await listMembers(tx, organizationId)).some(({ email: known }) => known.toLowerCase() === invitation.email)
        )
          throw new AppError('conflict', `${email} is already a member`);
        await insertInvitation(tx, invitation);
        await audit.record(tx, actor, {
          organizationId,
          type: 'organization_invite_create',
          resource: { type: 'invitation', id: invitation.id },
          after: toAuditFields(invitation),
        });
        const created = await members.describe(tx, invitation);
        await inTransaction?.(tx, created);
        return created;
      });
      return { ...described, secret };
    },

    async list(organizationId: string): Promise<Described<Invitation>[]> {
      return members.describeAll(
        state.db,
        organizationId,
        await listInvitations(state.db, organizationId, clock.now()),
      );
    },

    async get(organizationId: string, id: string): Promise<Described<Invitation>> {
      const invitation = await findInvitation(state.db, organizationId, id);
      if (!invitation || isExpired(invitation.expireAt, clock.now())) throw missing(id);
      return members.describe(state.db, invitation);
    },

    /** The link is rejected from the next request on. */
    async remove(actor: Actor, organizationId: string, id: string): Promise<void> {
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const invitation = await findInvitation(tx, organizationId, id);
        if (!invitation || !(await deleteInvitation(tx, organizationId, id))) throw missing(id);
        await audit.record(tx, actor, {
          organizationId,
          type: 'organization_invite_delete',
          resource: { type: 'invitation', id },
          before: toAuditFields(invitation),
        });
      });
    },
  };
}

const missing = (id: string): AppError => new AppError('not_found', `invitation ${id} does not exist`);

/** The fields of an invitation that the audit log may contain. */
const toAuditFields = (invitation: Invitation) => ({
  name: invitation.email,
  roles: listRoleKeys(invitation),
  expireAt: formatExpiry(invitation.expireAt),
});
