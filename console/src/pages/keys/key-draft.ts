import { openapiKeyCreateConstraints } from '../../api/generated.ts';
import type { Key, NewKey } from '../../api/types.ts';

/** State of the form for a new key. */
export interface KeyDraft {
  name: string;
  roles: NonNullable<NewKey['roles']>;
  expiry: Expiry;
  /** Value of the `datetime-local` field, in the local time zone; used if `expiry` is `at`. */
  expireAt: string;
  addresses: Address[];
  isHashed: boolean;
}

export interface Address {
  /** React key of the row. */
  row: number;
  source: string;
  description: string;
}

export const EXPIRIES = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
  { value: 'at', label: 'At a specific time' },
  { value: 'never', label: 'Never' },
] as const;
export type Expiry = (typeof EXPIRIES)[number]['value'];

export const ROLES = openapiKeyCreateConstraints.roles.items.values;
export const ROLE_DESCRIPTIONS: Record<(typeof ROLES)[number], string> = {
  admin: 'Full access to services, keys and dashboards',
  developer: 'Read-only access',
  query_endpoints: 'Query endpoints only, no console access',
};

const DAY_MS = 86_400_000;

export const createKeyDraft = (): KeyDraft => ({
  name: '',
  roles: ['developer'],
  expiry: '90',
  expireAt: '',
  addresses: [],
  isHashed: false,
});

/** Omits empty rows of the IP access list. */
export function toRequestBody(draft: KeyDraft, now: Date): NewKey {
  const expireAt = toExpireAt(draft, now);
  return {
    ...(draft.name.trim() === '' ? {} : { name: draft.name.trim() }),
    roles: draft.roles,
    ...(expireAt === undefined ? {} : { expireAt }),
    ipAccessList: filledAddresses(draft).map(({ source, description }) => ({
      source: source.trim(),
      ...(description.trim() === '' ? {} : { description: description.trim() }),
    })),
  };
}

export const filledAddresses = ({ addresses }: KeyDraft): Address[] =>
  addresses.filter(({ source, description }) => source.trim() !== '' || description.trim() !== '');

function toExpireAt({ expiry, expireAt }: KeyDraft, now: Date): string | undefined {
  if (expiry === 'never') return undefined;
  if (expiry !== 'at') return new Date(now.getTime() + Number(expiry) * DAY_MS).toISOString();
  const time = new Date(expireAt);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** Errors that can be found without the server. */
export function validateDraft(draft: KeyDraft, now: Date): { roles?: string; expireAt?: string } {
  return {
    ...(draft.roles.length === 0 ? { roles: 'Select at least one role' } : {}),
    ...(draft.expiry === 'at' && !(new Date(draft.expireAt).getTime() > now.getTime())
      ? { expireAt: 'Select a time in the future' }
      : {}),
  };
}

/** A key with the same settings and the same lifetime. */
export function createSuccessor(key: Key, now: Date): NewKey {
  const lifeMs = key.expireAt === null ? undefined : Date.parse(key.expireAt) - Date.parse(key.createdAt);
  return {
    name: key.name,
    roles: key.roles,
    ipAccessList: key.ipAccessList,
    ...(lifeMs === undefined || lifeMs <= 0 ? {} : { expireAt: new Date(now.getTime() + lifeMs).toISOString() }),
  };
}
