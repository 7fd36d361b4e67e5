import type { Key, KeyChange, NewKey } from '../../api/types.ts';
import { type Expiry, isFutureTime, toExpireAt } from '../../parts/forms/expiry.ts';

/** State of the form for a key. */
export interface KeyDraft {
  name: string;
  /** System and custom roles; undefined for the default. */
  roleIds: string[] | undefined;
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
export const KEY_FIELDS = ['name', 'roles', 'assignedRoleIds', 'expireAt', 'ipAccessList'];

export const formatRoles = ({ assignedRoles }: Key): string =>
  assignedRoles.map(({ roleName }) => roleName).join(', ') || 'none';

export const createKeyDraft = (): KeyDraft => ({
  name: '',
  roleIds: undefined,
  expiry: '90',
  expireAt: '',
  addresses: [],
  isHashed: false,
});

export const toKeyDraft = (key: Key): KeyDraft => ({
  name: key.name,
  roleIds: key.assignedRoles.map(({ roleId }) => roleId),
  expiry: 'keep',
  expireAt: '',
  addresses: key.ipAccessList.map(({ source, description = '' }, row) => ({ row, source, description })),
  isHashed: false,
});

/** Only the changed fields, so that concurrent changes to other fields are kept. */
export function toUpdateBody(draft: KeyDraft, key: Key, now: Date): KeyChange {
  const { ipAccessList, assignedRoleIds } = toRequestBody(draft, now);
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const currentIds = key.assignedRoles.map(({ roleId }) => roleId);
  const isSameRoles = isSame(assignedRoleIds?.toSorted(), currentIds.toSorted());
  return {
    ...(draft.name === key.name ? {} : { name: draft.name.trim() }),
    ...(isSameRoles || assignedRoleIds === undefined ? {} : { assignedRoleIds }),
    ...(draft.expiry === 'keep' ? {} : { expireAt: toExpireAt(draft, now) ?? null }),
    ...(isSame(ipAccessList, key.ipAccessList) || ipAccessList === undefined ? {} : { ipAccessList }),
  };
}

/** Omits empty rows of the IP access list. */
export function toRequestBody(draft: KeyDraft, now: Date): NewKey {
  const expireAt = toExpireAt(draft, now);
  return {
    ...(draft.name.trim() === '' ? {} : { name: draft.name.trim() }),
    ...(draft.roleIds === undefined ? {} : { assignedRoleIds: draft.roleIds }),
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
    ...(draft.roleIds?.length === 0 ? { roles: 'Select at least one role' } : {}),
    ...(draft.expiry === 'at' && !isFutureTime(draft.expireAt, now) ? { expireAt: 'Select a time in the future' } : {}),
  };
}
