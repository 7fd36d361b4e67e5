import { parseNetwork } from '../../kernel/access/addresses.ts';
import { createGrants, type NamedPolicies } from '../../kernel/access/grants.ts';
import { ACCESS_OPERATIONS } from '../../kernel/access/permissions.ts';
import { ADMINS, hasRole, type KeyRole, type KeyWithRoles } from '../../kernel/access/roles.ts';
import { memoize } from '../../kernel/memo.ts';
import { isExpired } from '../../platform/credentials/expiry.ts';

export const KEY_STATES = ['enabled', 'disabled'] as const;
export type KeyState = (typeof KEY_STATES)[number];

export interface IpAccessEntry {
  source: string;
  description?: string;
}

/** An API key. Only hashes of its credentials and the last four characters of the key id are stored. */
export interface Key extends KeyWithRoles {
  id: string;
  name: string;
  state: KeyState;
  ipAccessList: IpAccessEntry[];
  keyIdHash: string;
  keySuffix: string;
  keySecretHash: string;
  createdAt: number;
  expireAt: number | undefined;
  usedAt: number | undefined;
}

export const DEFAULT_NAME = 'API key';
/** The least privilege that can still read. */
export const DEFAULT_ROLES: KeyRole[] = ['developer'];

/** Enabled and not expired. */
export function isActive({ state, expireAt }: Pick<Key, 'state' | 'expireAt'>, now: number): boolean {
  return state === 'enabled' && !isExpired(expireAt, now);
}

/** The system roles of the key decide; no other role has to be looked up. */
export const hasSystemRolesOnly = ({ roles, customRoleIds }: KeyWithRoles): boolean =>
  customRoleIds === undefined && roles.length > 0;

export function isActiveAdmin(key: Key, now: number): boolean {
  return isActive(key, now) && hasRole(key.roles, ADMINS);
}

/** Whether a key with these custom roles can manage the keys and roles of its organization: a role may deny it to an admin. */
export function canManageAccess(key: Key, customRoles: readonly NamedPolicies[], now: number): boolean {
  if (!isActiveAdmin(key, now)) return false;
  const grants = createGrants(key.roles, customRoles);
  return ACCESS_OPERATIONS.every((operation) => grants.permits(operation, undefined));
}

/** An empty list allows every address. */
export function isAddressAllowed(list: readonly IpAccessEntry[], address: string): boolean {
  return list.length === 0 || list.some(({ source }) => parseCachedNetwork(source)?.contains(address));
}

const parseCachedNetwork = memoize(parseNetwork);
