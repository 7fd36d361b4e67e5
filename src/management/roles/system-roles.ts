import { findPermission, PERMISSION_NAMES } from '../../kernel/access/permissions.ts';
import {
  type CustomRole,
  getSystemRoleId,
  hasManagementAccess,
  KEY_ROLES,
  type KeyRole,
  type Policy,
} from '../../kernel/access/roles.ts';

/** The system roles in the form of custom roles, so that clients can read what they allow. */
export const listSystemRoles = (organizationId: string, createdAt: number): CustomRole[] =>
  KEY_ROLES.map((role) => ({
    id: getSystemRoleId(role),
    organizationId,
    name: role,
    policies: listPolicies(role, organizationId),
    createdAt,
    updatedAt: createdAt,
  }));

function listPolicies(role: KeyRole, organizationId: string): Policy[] {
  const scopes = [
    { scope: 'organization', resource: `organization/${organizationId}` },
    { scope: 'service', resource: 'instance/*' },
  ];
  return scopes.flatMap(({ scope, resource }) => {
    const permissions = PERMISSION_NAMES.filter((name) => {
      const permission = findPermission(name);
      return permission?.scope === scope && hasManagementAccess([role], permission.access);
    });
    return permissions.length === 0 ? [] : [{ allowDeny: 'ALLOW' as const, permissions, resources: [resource] }];
  });
}
