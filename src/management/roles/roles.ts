import type { Grants } from '../../kernel/access/grants.ts';
import { type CustomRole, findPublicName, findSystemRole, isKeyRole, type Policy } from '../../kernel/access/roles.ts';
import { AppError, rejectViolations } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { InTransaction, State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import { type Actor, difference } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import { assertWithinGrants, MAX_ACTORS } from '../keys/assigned-roles.ts';
import type { RoleAssignments } from '../keys/role-assignments.ts';
import type { Organizations } from '../organizations/organizations.ts';
import { listPolicyViolations, listServiceIds, MAX_ROLES, normalizePolicy } from './role.ts';
import { countRoles, deleteRole, findRole, insertRole, listRoles, updateRole } from './store.ts';
import { listSystemRoles } from './system-roles.ts';

/** A role and the ids of the keys that have it, at most `MAX_ACTORS`. */
export interface ListedRole {
  role: CustomRole;
  type: 'system' | 'custom';
  actorIds: string[];
}

interface RoleSettings {
  name?: string | undefined;
  policies?: Policy[] | undefined;
  /** The ids of the keys that have the role. */
  actorIds?: string[] | undefined;
  /** What the caller may do if that is not everything. */
  callerGrants?: Grants | undefined;
}

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  assignments: RoleAssignments;
  listExistingServiceIds(db: Db, organizationId: string, ids: readonly string[]): Promise<string[]>;
  /** Members, invitations and member rules with a custom role, as error messages name them. */
  listOtherHolders(db: Db, organizationId: string, roleId: string): Promise<string[]>;
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
    const { name = before.name, policies, callerGrants } = settings;
    const normalize = (policy: Policy) => normalizePolicy(policy, before.organizationId);
    const after = { ...before, name, policies: policies?.map(normalize) ?? before.policies };
    const changed = difference(toAuditFields(before), toAuditFields(after));
    if (Object.keys(changed.after).length === 0) return before;
    rejectSystemName(name);
    await checkPolicies(tx, after, before.policies);
    for (const role of [before, after])
      assertWithinGrants(callerGrants, { roles: [] }, [role], `The role ${role.name}`);
    const stored = { ...after, updatedAt: clock.now() };
    if (!(await updateRole(tx, stored))) throw nameTaken(name);
    if (callerGrants) {
      const holders = await assignments.list(tx, stored.organizationId, stored.id, MAX_CHECKED_KEYS);
      await assignments.assertManageable(tx, holders, { callerGrants });
    }
    await record(tx, actor, 'role_update', stored, changed);
    return stored;
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
      { name, policies = [], actorIds = [], callerGrants }: RoleSettings & { name: string },
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
        assertWithinGrants(callerGrants, { roles: [] }, [role], `The role ${name}`);
        if ((await countRoles(tx, organizationId)) >= MAX_ROLES)
          throw new AppError(
            'conflict',
            `The organization has reached its limit of ${MAX_ROLES} custom roles; delete one first`,
          );
        if (!(await insertRole(tx, role))) throw nameTaken(name);
        await record(tx, actor, 'role_create', role, { after: toAuditFields(role) });
        if (actorIds.length > 0)
          await assignments.keepManager(tx, organizationId, () =>
            assignments.replace(tx, actor, role, actorIds, { callerGrants }),
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
          if (settings.actorIds) await assignments.replace(tx, actor, role, settings.actorIds, settings);
          return describe(tx, role);
        });
      });
    },

    /** Throws `conflict` if a key, member, invitation or member rule has the role. */
    async remove(actor: Actor, organizationId: string, id: string, callerGrants?: Grants): Promise<void> {
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
        if (other !== undefined)
          throw new AppError('conflict', `The role is assigned to ${other}; remove it there first`);
        assertWithinGrants(callerGrants, { roles: [] }, [role], `The role ${role.name}`);
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
