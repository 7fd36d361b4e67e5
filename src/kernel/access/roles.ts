import { deriveUuid } from '../ids.ts';

type Access = 'none' | 'read' | 'write';

interface RoleRules {
  /** The kind of credential that can have the role. A token has exactly one, a key at least one. */
  credential: 'key' | 'token';
  /** Access to `/v1`. */
  management: Access;
  /** Access to `/api/v2`; a key gets it by signing in to the console. */
  dashboards: Access;
  /** May send OpenTelemetry data. */
  ingest?: true;
  /** The name of this role in the public service, whose clients look it up by name. */
  publicName?: string;
}

/** All roles and their permissions. The sets below, the schemas, the docs and the console derive from this table. */
const ROLES = {
  admin: { credential: 'key', management: 'write', dashboards: 'write', publicName: 'Admin' },
  developer: { credential: 'key', management: 'read', dashboards: 'read', publicName: 'Member' },
  query_endpoints: { credential: 'key', management: 'none', dashboards: 'none' },
  read: { credential: 'token', management: 'none', dashboards: 'read' },
  write: { credential: 'token', management: 'none', dashboards: 'write' },
  ingest: { credential: 'token', management: 'none', dashboards: 'none', ingest: true },
} as const satisfies Record<string, RoleRules>;

export type Role = keyof typeof ROLES;
type RoleForCredential<C> = { [R in Role]: (typeof ROLES)[R]['credential'] extends C ? R : never }[Role];
export type KeyRole = RoleForCredential<'key'>;
export type TokenAccess = RoleForCredential<'token'>;

function listRoles(matches: (rules: RoleRules) => boolean): readonly Role[] {
  return (Object.keys(ROLES) as Role[]).filter((role) => matches(ROLES[role]));
}

export const KEY_ROLES = listRoles(({ credential }) => credential === 'key') as readonly KeyRole[];
export const TOKEN_ACCESSES = listRoles(({ credential }) => credential === 'token') as readonly TokenAccess[];

/** For the `roles` of a route, which requires one of them. */
export const READERS = listRoles(({ management }) => management !== 'none');
export const ADMINS = listRoles(({ management }) => management === 'write');
export const DASHBOARD_READERS = listRoles(({ dashboards }) => dashboards !== 'none');
export const DASHBOARD_WRITERS = listRoles(({ dashboards }) => dashboards === 'write');
export const INGESTERS = listRoles(({ ingest }) => ingest === true);

/** The same on every server, so that scripts may contain them (decision R3). */
const SYSTEM_ROLE_IDS: ReadonlyMap<string, KeyRole> = new Map(
  KEY_ROLES.map((role) => [getSystemRoleId(role), role] as const),
);

export function getSystemRoleId(role: KeyRole): string {
  return deriveUuid('role', role);
}

export const findPublicName = (role: Role): string | undefined => (ROLES[role] as RoleRules).publicName;

export const findSystemRole = (id: string): KeyRole | undefined => SYSTEM_ROLE_IDS.get(id);

/** Whether one of the roles of a key permits the operations of `/v1` that read, or those that write. */
export const hasManagementAccess = (roles: readonly KeyRole[], access: 'read' | 'write'): boolean =>
  hasRole(roles, access === 'read' ? READERS : ADMINS);

/** Permissions on resources that a custom role allows or denies. */
export interface Policy {
  allowDeny: 'ALLOW' | 'DENY';
  permissions: string[];
  /** `organization/{id}`, or `instance/{serviceId}` and `instance/*`. */
  resources: string[];
}

/** A role that an organization defines, in addition to the system roles. */
export interface CustomRole {
  id: string;
  organizationId: string;
  name: string;
  policies: Policy[];
  createdAt: number;
  updatedAt: number;
}

/** The part of a key that decides what it may do. */
export interface KeyWithRoles {
  organizationId: string;
  roles: KeyRole[];
  /** Absent if there are none. */
  customRoleIds?: string[] | undefined;
}

export const isKeyRole = (role: string): role is KeyRole => (KEY_ROLES as readonly string[]).includes(role);
export const isTokenAccess = (role: string): role is TokenAccess =>
  (TOKEN_ACCESSES as readonly string[]).includes(role);

export const hasRole = (roles: readonly Role[], admitted: readonly Role[]): boolean =>
  roles.some((role) => admitted.includes(role));

export const DASHBOARD_ACCESSES = ['read', 'write', 'none'] as const satisfies readonly Access[];
export type DashboardAccess = (typeof DASHBOARD_ACCESSES)[number];

/** The widest access to dashboards that any of the roles has. */
export function getDashboardAccess(roles: readonly Role[]): DashboardAccess {
  if (hasRole(roles, DASHBOARD_WRITERS)) return 'write';
  return hasRole(roles, DASHBOARD_READERS) ? 'read' : 'none';
}
