import { listNeeds } from './hand-outs.ts';
import { findPermission, OPERATIONS, UNRESTRICTED_OPERATIONS, UNSUPPORTED_OPERATION } from './permissions.ts';
import { type CustomRole, type DashboardAccess, hasManagementAccess, type KeyRole, type Policy } from './roles.ts';
import {
  ALL_SERVICES,
  contains,
  isEmpty,
  isSubset,
  NO_SERVICES,
  type ServiceSet,
  subtract,
  unite,
} from './service-set.ts';

/** What the roles of a key allow. A DENY of any role takes precedence over every ALLOW, also of a system role. */
export interface Grants {
  /** Without a service, an operation on services is permitted if it is for at least one. */
  permits(operation: string, serviceId: string | undefined): boolean;
  /** The services that an operation may be used with. All or none if the operation does not concern services. */
  getServices(operation: string): ServiceSet;
  /** Every operation that is permitted together with what it needs, for at least one service. */
  listOperations(): string[];
  customRoleNames: readonly string[];
}

const INSTANCE_PREFIX = 'instance/';

export type NamedPolicies = Pick<CustomRole, 'name' | 'policies'>;

export function createGrants(roles: readonly KeyRole[], customRoles: readonly NamedPolicies[]): Grants {
  const known = new Map<string, ServiceSet>();
  const policies = customRoles.flatMap((role) => role.policies);

  function compute(operation: string): ServiceSet {
    const access = OPERATIONS.get(operation)?.access;
    const base = access && hasManagementAccess(roles, access) ? ALL_SERVICES : NO_SERVICES;
    const collect = (effect: Policy['allowDeny'], start: ServiceSet) =>
      policies
        .filter(({ allowDeny, permissions }) => allowDeny === effect && includesOperation(permissions, operation))
        .reduce((services, { resources }) => unite(services, toServices(resources)), start);
    return subtract(collect('ALLOW', base), collect('DENY', NO_SERVICES));
  }

  function getServices(operation: string): ServiceSet {
    let services = known.get(operation);
    if (!services) {
      services = compute(operation);
      known.set(operation, services);
    }
    return services;
  }

  function permits(operation: string, serviceId: string | undefined): boolean {
    if (operation === UNSUPPORTED_OPERATION || UNRESTRICTED_OPERATIONS.includes(operation)) return true;
    const services = getServices(operation);
    return serviceId === undefined ? !isEmpty(services) : contains(services, serviceId);
  }

  return {
    permits,
    getServices,
    listOperations: () =>
      [...OPERATIONS.keys()].filter((operation) => listNeeds(operation).every((needed) => permits(needed, undefined))),
    customRoleNames: customRoles.map(({ name }) => name),
  };
}

const includesOperation = (permissions: readonly string[], operation: string): boolean =>
  permissions.some((name) => findPermission(name)?.operations.includes(operation));

/** A policy for the organization has no services: its permissions apply as a whole. */
function toServices(resources: readonly string[]): ServiceSet {
  if (resources.some((resource) => !resource.startsWith(INSTANCE_PREFIX) || resource === `${INSTANCE_PREFIX}*`))
    return ALL_SERVICES;
  return { isComplement: false, ids: new Set(resources.map((resource) => resource.slice(INSTANCE_PREFIX.length))) };
}

/** The operations that `wanted` permits beyond `own`, fully or for some services. */
export const listExcess = (own: Grants, wanted: Grants): string[] =>
  [...OPERATIONS.keys()].filter((operation) => !isSubset(wanted.getServices(operation), own.getServices(operation)));

/** The access to dashboards that the console offers; each request is checked by its own operation. */
export function getGrantedDashboardAccess(grants: Grants): DashboardAccess {
  if (grants.permits('updateDashboard', undefined)) return 'write';
  return grants.permits('listDashboards', undefined) ? 'read' : 'none';
}
