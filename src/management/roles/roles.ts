import { type CustomRole, findPublicName, findSystemRole, isKeyRole, type Policy } from '../../kernel/access/roles.ts';
import { AppError, rejectViolations } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { InTransaction, State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import { type Actor, difference } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import type { Caller } from '../hand-outs/caller.ts';
import { assertMayHandOut, assertMayManage } from '../hand-outs/hand-out.ts';
import type { Rights } from '../hand-outs/rights.ts';
import { type Limited, MAX_ACTORS } from '../keys/assigned-roles.ts';
import type { RoleAssignments } from '../keys/role-assignments.ts';
import type { Organizations } from '../organizations/organizations.ts';
import { listPolicyViolations, listServiceIds, MAX_ROLES, normalizePolicy } from './role.ts';
import { assertMayChangeHolders, type RoleHolder } from './role-holders.ts';
import { countRoles, deleteRole, findRole, insertRole, listRoles, listRolesById, updateRole } from './store.ts';
import { listSystemRoles } from './system-roles.ts';

/** A role and the ids of the keys that have it, at most `MAX_ACTORS`. */
export interface ListedRole {
  role: CustomRole;
  type: 'system' | 'custom';
  actorIds: string[];
}

interface RoleSettings extends Limited {
  name?: string | undefined;
  policies?: Policy[] | undefined;
  /** The ids of keys that get the role. */
  actorIds?: string[] | undefined;
  /** Whether all other keys lose it. Default: only a custom role, whose whole list is the business of its clients. */
  removesOthers?: boolean | undefined;
}

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  assignments: RoleAssignments;
  listExistingServiceIds(db: Db, organizationId: string, ids: readonly string[]): Promise<string[]>;
  /** Members, invitations and member rules with a custom role, as error messages name them. */
  listOtherHolders(db: Db, organizationId: string, roleId: string): Promise<RoleHolder[]>;
}

export type Roles = ReturnType<typeof createRoles>;

/** Keys that are checked when a role changes. */
const MAX_CHECKED_KEYS = 10_000;
const MAX_NAMED_KEYS = 10;

export function createRoles(options: Options) {
  const { state, clock, audit, organizations, assignments, listExistingServiceIds, listOtherHolders } = options;

  const describe = async (db: Db, role: CustomRole): Promise<ListedRole> => ({
    role,
    type: findSystemRole(role.id) ? 'system' : 'custom',
    actorIds: await assignments.listIds(db, role.organizationId, role.id, MAX_ACTORS),
  });

  async function get(db: Db, organizationId: string, id: string): Promise<CustomRole> {
    const role = findSystemRole(id)
      ? await getSystemRole(db, organizationId, id)
      : await findRole(db, organizationId, id);
    if (!role) throw new AppError('not_found', `role ${id} does not exist`);
    return role;
  }

  async function getSystemRole(db: Db, organizationId: string, id: string): Promise<CustomRole | undefined> {
    const organization = await organizations.find(db, organizationId);
    return listSystemRoles(organizationId, organization?.createdAt ?? 0).find((role) => role.id === id);
  }

  /** Services that the role already names may have been deleted. */
  async function checkPolicies(tx: Db, role: CustomRole, before: readonly Policy[] = []): Promise<void> {
    const ids = listServiceIds(role.policies);
    const existing = await listExistingServiceIds(tx, role.organizationId, ids);
    const known = new Set([...existing, ...listServiceIds(before)]);
    rejectViolations(listPolicyViolations(role.policies, role.organizationId, known));
  }

  const record = (
    tx: Db,
    actor: Actor,
    type: 'role_create' | 'role_update' | 'role_delete',
    role: CustomRole,
    changed: object,
  ) =>
    audit.record(tx, actor, {
      organizationId: role.organizationId,
      type,
      resource: { type: 'role', id: role.id },
      ...changed,
    });

  /** Stores a changed custom role. The keys that have it must not gain more than the caller may do. */
  async function save(tx: Db, actor: Actor, before: CustomRole, settings: RoleSettings): Promise<CustomRole> {
    const { name = before.name, policies, caller } = settings;
    const normalize = (policy: Policy) => normalizePolicy(policy, before.organizationId);
    const after = { ...before, name, policies: policies?.map(normalize) ?? before.policies };
    const changed = difference(toAuditFields(before), toAuditFields(after));
    if (Object.keys(changed.after).length === 0) return before;
    rejectSystemName(name);
    await checkPolicies(tx, after, before.policies);
    assertMayManage(caller, toRights(before), `The role ${before.name}`);
    (policies ? assertMayHandOut : assertMayManage)(caller, toRights(after), `The role ${name}`);
    if (caller.grants || caller.needsFreshSignIn) await checkHolders(tx, caller, before, after);
    const stored = { ...after, updatedAt: clock.now() };
    if (!(await updateRole(tx, stored))) throw nameTaken(name);
    await record(tx, actor, 'role_update', stored, changed);
    return stored;
  }

  async function checkHolders(tx: Db, caller: Caller, before: CustomRole, after: CustomRole): Promise<void> {
    const { organizationId, id } = before;
    const keys = await assignments.list(tx, organizationId, id, MAX_CHECKED_KEYS);
    const holders = [
      ...keys.map((key): RoleHolder => ({ ...key, name: `the key ${key.name}` })),
      ...(await listOtherHolders(tx, organizationId, id)),
    ];
    const ids = [...new Set(holders.flatMap(({ customRoleIds = [] }) => customRoleIds))];
    const customRoles = await listRolesById(tx, organizationId, ids);
    assertMayChangeHolders(caller, { before, after, customRoles }, holders);
  }

  return {
    /**
     * System roles first, then the same roles once more with the names of the public service, then custom roles by name.
     * A custom role with a public name takes precedence.
     */
    async list(organizationId: string): Promise<ListedRole[]> {
      const { db } = state;
      const { createdAt } = await organizations.get(organizationId);
      const describeAll = (roles: readonly CustomRole[]) => Promise.all(roles.map((role) => describe(db, role)));
      const custom = await describeAll(await listRoles(db, organizationId));
      const system = await describeAll(listSystemRoles(organizationId, createdAt));
      return [...system, ...listPublicNames(system, custom), ...custom];
    },

    async get(organizationId: string, id: string): Promise<ListedRole> {
      return describe(state.db, await get(state.db, organizationId, id));
    },

    async create(
      actor: Actor,
      organizationId: string,
      { name, policies = [], actorIds = [], caller }: RoleSettings & { name: string },
      inTransaction?: InTransaction<ListedRole>,
    ): Promise<ListedRole> {
      const now = clock.now();
      const role: CustomRole = {
        id: newUuid(),
        organizationId,
        name,
        policies: policies.map((policy) => normalizePolicy(policy, organizationId)),
        createdAt: now,
        updatedAt: now,
      };
      rejectSystemName(name);
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        await checkPolicies(tx, role);
        assertMayHandOut(caller, toRights(role), `The role ${name}`);
        if ((await countRoles(tx, organizationId)) >= MAX_ROLES)
          throw new AppError(
            'conflict',
            `The organization has reached its limit of ${MAX_ROLES} custom roles; delete one first`,
          );
        if (!(await insertRole(tx, role))) throw nameTaken(name);
        await record(tx, actor, 'role_create', role, { after: toAuditFields(role) });
        if (actorIds.length > 0)
          await assignments.keepManager(tx, organizationId, () =>
            assignments.change(tx, actor, role, { keyIds: actorIds, removesOthers: false, caller }),
          );
        const listed = await describe(tx, role);
        await inTransaction?.(tx, listed);
        return listed;
      });
    },

    /** Omitted members keep their value. Only the keys of a system role can change. */
    async update(actor: Actor, organizationId: string, id: string, settings: RoleSettings): Promise<ListedRole> {
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const before = await get(tx, organizationId, id);
        if (findSystemRole(id)) rejectSystemChange(settings);
        return assignments.keepManager(tx, organizationId, async () => {
          const role = findSystemRole(id) ? before : await save(tx, actor, before, settings);
          const { actorIds: keyIds, removesOthers = !findSystemRole(id), caller } = settings;
          if (keyIds) await assignments.change(tx, actor, role, { keyIds, removesOthers, caller });
          return describe(tx, role);
        });
      });
    },

    /** Throws `conflict` if a key, member, invitation or member rule has the role. */
    async remove(actor: Actor, organizationId: string, id: string, { caller }: Limited): Promise<void> {
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const role = await get(tx, organizationId, id);
        if (findSystemRole(id)) throw new AppError('conflict', 'A system role cannot be deleted');
        const holders = await assignments.list(tx, organizationId, id, MAX_ACTORS);
        if (holders.length > 0)
          throw new AppError(
            'conflict',
            `The role is assigned to ${formatKeyNames(holders)}; remove it from them first`,
          );
        const [other] = await listOtherHolders(tx, organizationId, id);
        if (other) throw new AppError('conflict', `The role is assigned to ${other.name}; remove it there first`);
        assertMayManage(caller, toRights(role), `The role ${role.name}`);
        await deleteRole(tx, role);
        await record(tx, actor, 'role_delete', role, { before: toAuditFields(role) });
      });
    },
  };
}

function listPublicNames(system: readonly ListedRole[], custom: readonly ListedRole[]): ListedRole[] {
  return system.flatMap((listed) => {
    const role = findSystemRole(listed.role.id);
    const name = role && findPublicName(role);
    if (name === undefined || custom.some((other) => other.role.name === name)) return [];
    return [{ ...listed, role: { ...listed.role, name } }];
  });
}

const toRights = (role: CustomRole): Rights => ({ roles: [], customRoles: [role] });

const toAuditFields = ({ name, policies }: CustomRole) => ({ name, policies });

const nameTaken = (name: string): AppError =>
  new AppError('conflict', `A role with the name ${name} already exists`, { field: 'name' });

function rejectSystemName(name: string): void {
  if (isKeyRole(name)) throw nameTaken(name);
}

function rejectSystemChange({ name, policies }: RoleSettings): void {
  const rule = 'A system role cannot be changed; only its actors can';
  rejectViolations(
    Object.entries({ name, policies })
      .filter(([, value]) => value !== undefined)
      .map(([path, value]) => ({ path, rule, value })),
  );
}

function formatKeyNames(keys: readonly { name: string; id: string }[]): string {
  const named = keys.slice(0, MAX_NAMED_KEYS).map(({ name, id }) => `${name} (${id})`);
  const more = keys.length - named.length;
  return `the keys ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
