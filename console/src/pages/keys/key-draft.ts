import { openapiKeyCreateConstraints } from '../../api/generated.ts';
import type { Key, KeyChange, NewKey } from '../../api/types.ts';
import { type Expiry, isFutureTime, toExpireAt } from '../../parts/expiry.ts';

/** State of the form for a key. */
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

/** The fields of a request that the form shows errors for. */
export const KEY_FIELDS = ['name', 'roles', 'expireAt', 'ipAccessList'];

export const ROLES = openapiKeyCreateConstraints.roles.items.values;
export const ROLE_DESCRIPTIONS: Record<(typeof ROLES)[number], string> = {
  admin: 'Full access to services, keys and dashboards',
  developer: 'Read-only access',
  query_endpoints: 'Query endpoints only, no console access',
};

export const createKeyDraft = (): KeyDraft => ({
  name: '',
  roles: ['developer'],
  expiry: '90',
  expireAt: '',
  addresses: [],
  isHashed: false,
});

export const toKeyDraft = (key: Key): KeyDraft => ({
  name: key.name,
  roles: key.roles,
  expiry: 'keep',
  expireAt: '',
  addresses: key.ipAccessList.map(({ source, description = '' }, row) => ({ row, source, description })),
  isHashed: false,
});

/** Only the changed fields, so that concurrent changes to other fields are kept. */
export function toUpdateBody(draft: KeyDraft, key: Key, now: Date): KeyChange {
  const { ipAccessList, roles } = toRequestBody(draft, now);
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const isSameRoles = isSame(roles?.toSorted(), key.roles.toSorted());
  return {
    ...(draft.name === key.name ? {} : { name: draft.name.trim() }),
    ...(isSameRoles || roles === undefined ? {} : { roles }),
    ...(draft.expiry === 'keep' ? {} : { expireAt: toExpireAt(draft, now) ?? null }),
    ...(isSame(ipAccessList, key.ipAccessList) || ipAccessList === undefined ? {} : { ipAccessList }),
  };
}

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

/** Errors that can be found without the server. */
export function validateDraft(draft: KeyDraft, now: Date): { roles?: string; expireAt?: string } {
  return {
    ...(draft.roles.length === 0 ? { roles: 'Select at least one role' } : {}),
    ...(draft.expiry === 'at' && !isFutureTime(draft.expireAt, now) ? { expireAt: 'Select a time in the future' } : {}),
  };
}
