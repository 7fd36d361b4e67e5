import { isExpired } from '../credentials/expiry.ts';
import { parseNetwork } from '../kernel/addresses.ts';
import { memoize } from '../kernel/memo.ts';
import { ADMINS, hasRole, type KeyRole } from '../kernel/roles.ts';

export const KEY_STATES = ['enabled', 'disabled'] as const;
export type KeyState = (typeof KEY_STATES)[number];

export interface IpAccessEntry {
  source: string;
  description?: string;
}

/** An API key. Only hashes of its credentials and the last four characters of the key id are stored. */
export interface Key {
  id: string;
  organizationId: string;
  name: string;
  state: KeyState;
  roles: KeyRole[];
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

/** Whether this key alone can manage the organization. */
export function isActiveAdmin(key: Key, now: number): boolean {
  return isActive(key, now) && hasRole(key.roles, ADMINS);
}

/** An empty list allows every address. */
export function isAddressAllowed(list: readonly IpAccessEntry[], address: string): boolean {
  return list.length === 0 || list.some(({ source }) => parseCachedNetwork(source)?.contains(address));
}

const parseCachedNetwork = memoize(parseNetwork);
