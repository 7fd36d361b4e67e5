import { findPermission, isUnsupportedPermission, type PermissionScope } from '../../kernel/access/permissions.ts';
import type { Policy } from '../../kernel/access/roles.ts';
import type { Violation } from '../../kernel/errors.ts';
import { isUuid } from '../../kernel/ids.ts';

/** Custom roles per organization. Those of a fleet file are not limited. */
export const MAX_ROLES = 100;

/** The limits of one role. */
export const MAX_POLICIES = 50;
export const MAX_PERMISSIONS = 200;
/** In one policy. */
export const MAX_RESOURCES = 1000;

const SCOPE_RULES: Record<PermissionScope, string> = {
  organization:
    'The permissions of this policy are for the organization: the value must be organization/{organizationId}',
  service: 'The permissions of this policy are for services: the value must be instance/{serviceId} or instance/*',
};

/** Ids are case-insensitive; `organization/*` is the organization of the role. */
export const normalizePolicy = ({ allowDeny, permissions, resources }: Policy, organizationId: string): Policy => ({
  allowDeny,
  permissions,
  resources: resources.map((resource) =>
    resource === 'organization/*' ? `organization/${organizationId}` : resource.toLowerCase(),
  ),
});

/** The ids of the services that policies name. */
export const listServiceIds = (policies: readonly Policy[]): string[] => [
  ...new Set(policies.flatMap(({ resources }) => resources.flatMap((resource) => parseServiceId(resource) ?? []))),
];

function parseServiceId(resource: string): string | undefined {
  const id = /^instance\/(.*)$/.exec(resource)?.[1];
  return id !== undefined && isUuid(id) ? id : undefined;
}

/** The violated rules of a role. `existing` has the services that policies may name. */
export function listPolicyViolations(
  policies: readonly Policy[],
  organizationId: string,
  existing: ReadonlySet<string>,
): Violation[] {
  return policies.flatMap(({ permissions, resources }, index): Violation[] => {
    const path = `policies[${index}]`;
    const unknown = permissions.flatMap((name, position) => {
      const rule = findViolatedPermissionRule(name);
      return rule === undefined ? [] : [{ path: `${path}.permissions[${position}]`, rule, value: name }];
    });
    if (unknown.length > 0) return unknown;
    const scopes = new Set(permissions.flatMap((name) => findPermission(name)?.scope ?? []));
    const [scope] = scopes;
    if (scope === undefined || scopes.size > 1) {
      const rule = 'All permissions of a policy must be for the organization, or all for services';
      return [{ path: `${path}.permissions`, rule, value: permissions }];
    }
    return resources.flatMap((resource, position) => {
      const rule = findViolatedResourceRule(resource, scope, organizationId, existing);
      return rule === undefined ? [] : [{ path: `${path}.resources[${position}]`, rule, value: resource }];
    });
  });
}

function findViolatedPermissionRule(name: string): string | undefined {
  if (findPermission(name)) return undefined;
  return isUnsupportedPermission(name)
    ? 'The permission is not supported here: no operation needs it'
    : 'The value must be a permission or the id of an operation (docs/roles.md lists them)';
}

function findViolatedResourceRule(
  resource: string,
  scope: PermissionScope,
  organizationId: string,
  existing: ReadonlySet<string>,
): string | undefined {
  if (scope === 'organization')
    return resource === `organization/${organizationId}` ? undefined : SCOPE_RULES.organization;
  if (resource === 'instance/*') return undefined;
  const id = parseServiceId(resource);
  if (id === undefined) return SCOPE_RULES.service;
  return existing.has(id) ? undefined : 'The service does not exist in this organization';
}
