import type { CustomRole } from '../../kernel/access/roles.ts';
import { AppError, rejectViolations, type Violation } from '../../kernel/errors.ts';
import type { State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Actor } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import { assertMayHandOut, assertMayManage } from '../hand-outs/hand-out.ts';
import {
  type AssignedRole,
  describeRoles,
  type Limited,
  listChoiceViolations,
  listMissingRoles,
  parseRoleChoice,
  type RoleChoice,
  type RoleReader,
} from '../keys/assigned-roles.ts';
import type { Organizations } from '../organizations/organizations.ts';
import {
  formatPerson,
  type Invitation,
  isAdmin,
  isSameSet,
  listRoleKeys,
  type Member,
  type RoleSet,
  unite,
} from './member.ts';
import { deleteMember, findMember, listMembers, updateMember } from './store.ts';

export interface Described<T> {
  item: T;
  assignedRoles: AssignedRole[];
}

interface Options {
  state: State;
  audit: Audit;
  organizations: Organizations;
  roleReader: RoleReader;
}

export type Members = ReturnType<typeof createMembers>;

export function createMembers({ state, audit, organizations, roleReader }: Options) {
  async function get(db: Db, organizationId: string, id: string): Promise<Member> {
    const member = await findMember(db, organizationId, id);
    if (!member) throw new AppError('not_found', `member ${id} does not exist`);
    return member;
  }

  const readCustomRoles = (db: Db, organizationId: string, { customRoleIds = [] }: RoleSet): Promise<CustomRole[]> =>
    customRoleIds.length === 0 ? Promise.resolve([]) : roleReader.list(db, organizationId, customRoleIds);

  /** Throws `forbidden` if the member permits more than the caller may do. */
  async function assertManageable(tx: Db, member: Member, { caller }: Limited): Promise<void> {
    const customRoles = await readCustomRoles(tx, member.organizationId, member);
    assertMayManage(caller, { roles: member.roles, customRoles }, `The member ${member.name}`);
  }

  /** Throws `forbidden` if the caller may not give these roles, or an invitation that signs in as a member with them. */
  async function assertGivable(
    tx: Db,
    { organizationId }: Member | Invitation,
    given: RoleSet,
    subject: string,
    { caller }: Limited,
  ): Promise<void> {
    const customRoles = await readCustomRoles(tx, organizationId, given);
    assertMayHandOut(caller, { roles: given.roles, customRoles }, subject);
  }

  async function assertAdminRemains(tx: Db, { organizationId, id }: Member, participle: string): Promise<void> {
    const others = (await listMembers(tx, organizationId)).filter((member) => member.id !== id);
    if (!others.some(isAdmin))
      throw new AppError('conflict', `This is the last admin of the organization; it cannot be ${participle}`);
  }

  async function describe<T extends RoleSet & { organizationId: string }>(db: Db, item: T): Promise<Described<T>> {
    return { item, assignedRoles: describeRoles(item, await readCustomRoles(db, item.organizationId, item)) };
  }

  async function describeAll<T extends RoleSet & { organizationId: string }>(
    db: Db,
    organizationId: string,
    items: readonly T[],
  ): Promise<Described<T>[]> {
    const customRoles = await readCustomRoles(db, organizationId, unite(...items));
    return items.map((item) => ({ item, assignedRoles: describeRoles(item, customRoles) }));
  }

  return {
    assertGivable,
    describe,
    describeAll,

    async list(organizationId: string): Promise<Described<Member>[]> {
      return describeAll(state.db, organizationId, await listMembers(state.db, organizationId));
    },

    async get(organizationId: string, id: string): Promise<Described<Member>> {
      return describe(state.db, await get(state.db, organizationId, id));
    },

    /** The rules that a choice of roles breaks. */
    listRoleViolations: async (organizationId: string, choice: RoleChoice): Promise<Violation[]> => [
      ...listChoiceViolations(choice),
      ...(await listMissingRoles(roleReader, state.db, organizationId, choice)),
    ],

    /** Replaces the assigned roles. Roles that member rules give cannot be taken away here. */
    async update(
      actor: Actor,
      organizationId: string,
      id: string,
      choice: RoleChoice & Limited,
    ): Promise<Described<Member>> {
      rejectViolations(listChoiceViolations(choice));
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const before = await get(tx, organizationId, id);
        rejectViolations(await listMissingRoles(roleReader, tx, organizationId, choice));
        const assigned = parseRoleChoice(choice);
        if (!assigned) return describe(tx, before);
        rejectLostRules(before, assigned);
        const after: Member = { ...before, assigned, ...unite(assigned, before.byRules) };
        await assertManageable(tx, before, choice);
        await assertGivable(tx, after, after, `The member ${after.name}`, choice);
        if (isAdmin(before) && !isAdmin(after)) await assertAdminRemains(tx, before, 'demoted');
        if (!isSameSet(before.assigned, after.assigned)) {
          await updateMember(tx, after);
          await audit.record(tx, actor, {
            organizationId,
            type: 'organization_member_update_roles',
            resource: { type: 'member', id },
            before: { roles: listRoleKeys(before) },
            after: { name: formatPerson(after), roles: listRoleKeys(after) },
          });
        }
        return describe(tx, after);
      });
    },

    /** The sessions of the member are rejected from the next request on. */
    async remove(actor: Actor, organizationId: string, id: string, limited: Limited): Promise<void> {
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const member = await get(tx, organizationId, id);
        if (member.byRules)
          throw new AppError(
            'conflict',
            `${member.name} is a member because of the member rules of the organization; change the rules or the person's groups at the identity provider`,
          );
        await assertManageable(tx, member, limited);
        if (isAdmin(member)) await assertAdminRemains(tx, member, 'removed');
        await deleteMember(tx, organizationId, id);
        await audit.record(tx, actor, {
          organizationId,
          type: actor.id === id ? 'organization_member_leave' : 'organization_member_delete',
          resource: { type: 'member', id },
          before: { name: formatPerson(member), roles: listRoleKeys(member) },
        });
      });
    },
  };
}

/** The next sign-in would give the roles again. */
function rejectLostRules({ name, byRules }: Member, chosen: RoleSet): void {
  const lost = byRules && listRoleKeys(byRules).filter((role) => !listRoleKeys(chosen).includes(role));
  if (lost && lost.length > 0)
    throw new AppError(
      'conflict',
      `${name} has the role ${lost.join(', ')} because of the member rules of the organization; change the rules or the person's groups at the identity provider`,
    );
}
