import { parseNetwork } from '../kernel/addresses.ts';
import { memoize } from '../kernel/memo.ts';

export const ROLES = ['admin', 'developer', 'query_endpoints'] as const;
export type Role = (typeof ROLES)[number];

export const KEY_STATES = ['enabled', 'disabled'] as const;
export type KeyState = (typeof KEY_STATES)[number];

export interface IpAccessEntry {
  source: string;
  description?: string;
}

/** An API key. Of its credentials we hold hashes and the last four characters of the id, nothing else. */
export interface Key {
  id: string;
  organizationId: string;
  name: string;
  state: KeyState;
  roles: Role[];
  ipAccessList: IpAccessEntry[];
  keyIdHash: string;
  keySuffix: string;
  keySecretHash: string;
  createdAt: number;
  expireAt: number | undefined;
  usedAt: number | undefined;
}

export const DEFAULT_NAME = 'API key';
/** The least that can still read. */
export const DEFAULT_ROLES: Role[] = ['developer'];

/** Enabled, and not expired: may be used right now. */
export function isActive({ state, expireAt }: Pick<Key, 'state' | 'expireAt'>, now: number): boolean {
  return state === 'enabled' && (expireAt === undefined || expireAt > now);
}

/** Could somebody with this key alone still manage the organization? */
export function isActiveAdmin(key: Key, now: number): boolean {
  return isActive(key, now) && key.roles.includes('admin');
}

/** An empty list admits every address. */
export function admits(list: readonly IpAccessEntry[], address: string): boolean {
  return list.length === 0 || list.some(({ source }) => networkOf(source)?.contains(address));
}

const networkOf = memoize(parseNetwork);
