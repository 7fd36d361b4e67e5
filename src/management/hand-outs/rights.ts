import { createGrants, type Grants, type NamedPolicies } from '../../kernel/access/grants.ts';
import { ROLE_OPERATIONS } from '../../kernel/access/hand-outs.ts';
import { ADMINS, hasRole, type KeyRole, type TokenAccess } from '../../kernel/access/roles.ts';

/** What a credential, a role or an invitation gives to the one who has it. */
export interface Rights {
  roles: readonly KeyRole[];
  customRoles: readonly NamedPolicies[];
}

const ALLOW = 'ALLOW';

/** The rights of a dashboard token, in the form of a role. */
export const getTokenPolicies = (access: TokenAccess): NamedPolicies => ({
  name: access,
  policies: [
    {
      allowDeny: ALLOW,
      permissions: access === 'read' ? ['dashboards:view'] : ['dashboards:view', 'dashboards:manage'],
      resources: ['organization/*'],
    },
  ],
});

/** The right to use operations with one service. */
export const toServiceRights = (serviceId: string, operations: readonly string[]): Rights => ({
  roles: [],
  customRoles: [
    {
      name: serviceId,
      policies: [{ allowDeny: ALLOW, permissions: [...operations], resources: [`instance/${serviceId}`] }],
    },
  ],
});

export const toGrants = ({ roles, customRoles }: Rights): Grants => createGrants(roles, customRoles);

/**
 * Whether the rights are those of an administrator: the role itself, or a custom role that can hand out rights. A role
 * that is as powerful as admin, or becomes so by handing out what it has to others, is one of them.
 */
export function isAdministrative(rights: Rights): boolean {
  if (hasRole(rights.roles, ADMINS)) return true;
  const grants = toGrants(rights);
  return ROLE_OPERATIONS.some((operation) => grants.permits(operation, undefined));
}
