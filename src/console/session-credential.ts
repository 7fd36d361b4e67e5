import { createGrants, type Grants, getGrantedDashboardAccess } from '../kernel/access/grants.ts';
import { type DashboardAccess, getDashboardAccess, type KeyRole, type Role } from '../kernel/access/roles.ts';
import type { IpAccessEntry } from '../management/keys/key.ts';
import type { KeyVerifier } from '../management/keys/verification.ts';
import { formatPerson } from '../management/members/member.ts';
import type { ActiveMember } from '../management/members/verification.ts';
import type { TokenVerifier } from '../observability/tokens/verification.ts';
import type { SessionKind } from './session.ts';

/** The member, key or token of a session in its current state. */
export interface SessionCredential {
  kind: SessionKind;
  organizationId: string;
  id: string;
  name: string;
  suffix: string;
  roles: readonly Role[];
  /** Undefined if the roles decide alone. */
  grants: Grants | undefined;
  /** The names of all roles of a member or key. */
  roleNames: readonly string[];
  /** The operations of `/v1` and `/api/v2` that the credential may use. */
  operations: readonly string[];
  dashboardAccess: DashboardAccess;
  ipAccessList: readonly IpAccessEntry[];
  secretHash: string;
  expireAt: number | undefined;
  costRevision: number;
  dashboardRevision: number;
  /** A change that needs it must wait for a new sign-in at the identity provider. */
  needsFreshSignIn?: boolean;
}

export function fromMember({ member, grants, costRevision, dashboardRevision }: ActiveMember): SessionCredential {
  return {
    kind: 'member',
    organizationId: member.organizationId,
    id: member.id,
    name: formatPerson(member),
    suffix: '',
    roles: member.roles,
    grants,
    ...describeAccess(member.roles, grants),
    ipAccessList: [],
    secretHash: '',
    expireAt: undefined,
    costRevision,
    dashboardRevision,
  };
}

const describeAccess = (roles: KeyRole[], grants: Grants | undefined) => ({
  roleNames: [...roles, ...(grants?.customRoleNames ?? [])],
  operations: (grants ?? createGrants(roles, [])).listOperations(),
  dashboardAccess: grants ? getGrantedDashboardAccess(grants) : getDashboardAccess(roles),
});

export function fromKey({
  credential: key,
  grants,
  costRevision,
  dashboardRevision,
}: Awaited<ReturnType<KeyVerifier['verify']>>): SessionCredential {
  return {
    kind: 'key',
    organizationId: key.organizationId,
    id: key.id,
    name: key.name,
    suffix: key.keySuffix,
    roles: key.roles,
    grants,
    ...describeAccess(key.roles, grants),
    ipAccessList: key.ipAccessList,
    secretHash: key.keySecretHash,
    expireAt: key.expireAt,
    costRevision,
    dashboardRevision,
  };
}

export function fromToken({
  credential: token,
  dashboardRevision,
}: Awaited<ReturnType<TokenVerifier['verify']>>): SessionCredential {
  return {
    kind: 'token',
    organizationId: token.organizationId,
    id: token.id,
    name: token.name,
    suffix: token.tokenSuffix,
    roles: [token.access],
    grants: undefined,
    roleNames: [],
    operations: [],
    dashboardAccess: getDashboardAccess([token.access]),
    ipAccessList: [],
    secretHash: '',
    expireAt: token.expireAt,
    costRevision: 0,
    dashboardRevision,
  };
}
