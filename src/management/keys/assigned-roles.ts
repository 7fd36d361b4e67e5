import type { Grants } from '../../kernel/access/grants.ts';
import {
  type CustomRole,
  findSystemRole,
  getSystemRoleId,
  type KeyRole,
  type KeyWithRoles,
} from '../../kernel/access/roles.ts';
import { AppError, type Violation } from '../../kernel/errors.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Caller } from '../hand-outs/caller.ts';
import type { Key } from './key.ts';

/** Reads the custom roles of keys. */
export interface RoleReader {
  /** Ids that do not exist are missing from the result. */
  list(db: Db, organizationId: string, ids: readonly string[]): Promise<CustomRole[]>;
  /** `roleRevision` is the revision of the organization's roles that was read with the key. */
  getGrants(key: KeyWithRoles, roleRevision: number): Promise<Grants>;
}

/** Who asks for the change: neither the old nor the new record may permit more than the caller. */
export interface Limited {
  caller: Caller;
}

/** With the system roles, a few more can be assigned at once. */
export const MAX_CUSTOM_ROLES_PER_KEY = 100;

export interface AssignedRole {
  roleId: string;
  roleName: string;
  roleType: 'system' | 'custom';
}

/** A key and the names of its roles. */
export interface DescribedKey extends Key {
  assignedRoles: AssignedRole[];
}

/** The roles that a client chooses: system roles by name, or all roles by id. */
export interface RoleChoice {
  roles?: KeyRole[] | undefined;
  assignedRoleIds?: string[] | undefined;
}

/** The stored form of a choice; undefined if nothing was chosen. */
export function parseRoleChoice({
  roles,
  assignedRoleIds,
}: RoleChoice): Pick<Key, 'roles' | 'customRoleIds'> | undefined {
  if (!assignedRoleIds) return roles && { roles, customRoleIds: undefined };
  const ids = assignedRoleIds.map((id) => id.toLowerCase());
  const custom = ids.filter((id) => !findSystemRole(id));
  return {
    roles: ids.flatMap((id) => findSystemRole(id) ?? []),
    customRoleIds: custom.length > 0 ? custom : undefined,
  };
}

/** Some clients always send `assignedRoleIds` with a new key, and an empty list for the default. */
export const chooseNew = ({ roles, assignedRoleIds }: RoleChoice): RoleChoice =>
  assignedRoleIds?.length === 0 ? { roles } : { roles, assignedRoleIds };

/** Both members must name the same system roles. */
export function listChoiceViolations(choice: RoleChoice): Violation[] {
  const { roles, assignedRoleIds } = choice;
  const system = parseRoleChoice(choice)?.roles ?? [];
  if (!roles || !assignedRoleIds) return [];
  if (roles.length === system.length && roles.every((role) => system.includes(role))) return [];
  const rule = `The system roles must be those of roles (${roles.join(', ')}), or one of the two members must be omitted`;
  return [{ path: 'assignedRoleIds', rule, value: assignedRoleIds }];
}

/** Every chosen role must exist. */
export async function listMissingRoles(
  reader: RoleReader,
  db: Db,
  organizationId: string,
  choice: RoleChoice,
): Promise<Violation[]> {
  const ids = parseRoleChoice(choice)?.customRoleIds ?? [];
  const found = ids.length === 0 ? [] : await reader.list(db, organizationId, ids);
  const rule = 'The role does not exist in this organization';
  return ids
    .filter((id) => !found.some((role) => role.id === id))
    .map((id) => ({ path: 'assignedRoleIds', rule, value: id }));
}

/** The keys that a role lists, and that one request can assign it to. */
export const MAX_ACTORS = 1000;

/** The key with or without a role; the same object if nothing changes. */
export function withRole(key: Key, roleId: string, isAssigned: boolean): Key {
  const systemRole = findSystemRole(roleId);
  const { roles, customRoleIds = [] } = key;
  if (isAssigned === (systemRole ? roles.includes(systemRole) : customRoleIds.includes(roleId))) return key;
  if (systemRole)
    return { ...key, roles: isAssigned ? [...roles, systemRole] : roles.filter((role) => role !== systemRole) };
  const ids = isAssigned ? [...customRoleIds, roleId] : customRoleIds.filter((id) => id !== roleId);
  if (ids.length > MAX_CUSTOM_ROLES_PER_KEY)
    throw new AppError(
      'conflict',
      `The key ${key.name} has ${MAX_CUSTOM_ROLES_PER_KEY} custom roles; remove one first`,
    );
  return { ...key, customRoleIds: ids.length > 0 ? ids : undefined };
}

export const describeKey = (key: Key, customRoles: readonly CustomRole[]): DescribedKey => ({
  ...key,
  assignedRoles: describeRoles(key, customRoles),
});

/** System roles first. */
export const describeRoles = (
  { roles, customRoleIds = [] }: Pick<KeyWithRoles, 'roles' | 'customRoleIds'>,
  customRoles: readonly CustomRole[],
): AssignedRole[] => [
  ...roles.map((role) => ({ roleId: getSystemRoleId(role), roleName: role, roleType: 'system' as const })),
  ...customRoleIds.flatMap((id) =>
    customRoles
      .filter((role) => role.id === id)
      .map(({ name }) => ({ roleId: id, roleName: name, roleType: 'custom' as const })),
  ),
];

/** Adds the names of custom roles. Reads nothing if no key has one. */
export async function describeKeys(
  reader: RoleReader,
  db: Db,
  organizationId: string,
  keys: readonly Key[],
): Promise<DescribedKey[]> {
  const ids = [...new Set(keys.flatMap(({ customRoleIds = [] }) => customRoleIds))];
  const customRoles = ids.length === 0 ? [] : await reader.list(db, organizationId, ids);
  return keys.map((key) => describeKey(key, customRoles));
}
