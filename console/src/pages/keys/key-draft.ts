import type { Key, NewKey } from '../../api/types.ts';

/** What the form holds while a key is being made. */
export interface KeyDraft {
  name: string;
  roles: NonNullable<NewKey['roles']>;
  expiry: Expiry;
  /** As the browser's field writes it, in the viewer's zone; counts where `expiry` is `at`. */
  expireAt: string;
  addresses: Address[];
  isHashed: boolean;
}

export interface Address {
  /** Only to tell the rows apart. */
  row: number;
  source: string;
  description: string;
}

export const EXPIRIES = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'at', label: 'At a time of your choice' },
  { value: 'never', label: 'Never' },
] as const;
export type Expiry = (typeof EXPIRIES)[number]['value'];

export const ROLES = [
  { value: 'admin', label: 'admin', description: 'Everything: read and change services, keys, dashboards' },
  { value: 'developer', label: 'developer', description: 'Read everything, change nothing' },
  { value: 'query_endpoints', label: 'query_endpoints', description: 'Query endpoints only; nothing of this console' },
] as const;

const DAY_MS = 86_400_000;

export const createKeyDraft = (): KeyDraft => ({
  name: '',
  roles: ['developer'],
  expiry: '90',
  expireAt: '',
  addresses: [],
  isHashed: false,
});

/** What goes to the server. Rows without an address are no rows. */
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

/** Mistakes that need no server. */
export function validateDraft(draft: KeyDraft, now: Date): { roles?: string; expireAt?: string } {
  return {
    ...(draft.roles.length === 0 ? { roles: 'Choose at least one' } : {}),
    ...(draft.expiry === 'at' && !(new Date(draft.expireAt).getTime() > now.getTime())
      ? { expireAt: 'Choose a time that is still to come' }
      : {}),
  };
}

/** The same key again, for as long as the old one was made for. */
export function createSuccessor(key: Key, now: Date): NewKey {
  const lifeMs = key.expireAt === null ? undefined : Date.parse(key.expireAt) - Date.parse(key.createdAt);
  return {
    name: key.name,
    roles: key.roles,
    ipAccessList: key.ipAccessList,
    ...(lifeMs === undefined || lifeMs <= 0 ? {} : { expireAt: new Date(now.getTime() + lifeMs).toISOString() }),
  };
}
