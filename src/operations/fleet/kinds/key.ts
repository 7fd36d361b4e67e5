import type { KeyRole } from '../../../kernel/access/roles.ts';
import { AppError } from '../../../kernel/errors.ts';
import { isoTime, parseDateTime } from '../../../kernel/time/clock.ts';
import {
  DEFAULT_NAME,
  DEFAULT_ROLES,
  type IpAccessEntry,
  type Key,
  type KeyState,
} from '../../../management/keys/key.ts';
import { deleteKey, insertKey, listKeys, updateKey } from '../../../management/keys/store.ts';
import type { HashData } from '../../../management/keys/stored-key.ts';
import type { Kind } from './kind.ts';

export const keyKind: Kind<Key> = {
  name: 'key',
  activities: { create: 'key_create', update: () => 'openapi_key_update', remove: 'key_delete' },

  async load(tx, organizationId) {
    return new Map((await listKeys(tx, organizationId)).map((key) => [key.id, key]));
  },

  // A file cannot declare an empty list of roles: a key without them has customRoles instead.
  toFields: ({
    name,
    state,
    roles,
    customRoleIds,
    ipAccessList,
    expireAt,
    createdAt,
    keyIdHash,
    keySuffix,
    keySecretHash,
  }) => ({
    name,
    ...(roles.length > 0 ? { roles } : {}),
    ...(roles.length === 0 || customRoleIds ? { customRoles: customRoleIds ?? [] } : {}),
    state,
    expireAt: expireAt === undefined ? '' : isoTime(expireAt),
    ipAccessList,
    createdAt: isoTime(createdAt),
    hashData: { keyIdHash, keyIdSuffix: keySuffix, keySecretHash },
  }),

  defaults: ({ customRoles }, { now }) => ({
    name: DEFAULT_NAME,
    ...(customRoles ? {} : { roles: DEFAULT_ROLES }),
    state: 'enabled',
    expireAt: '',
    ipAccessList: [],
    createdAt: isoTime(now),
  }),

  build(id, fields, { organization }, before) {
    const { keyIdHash, keyIdSuffix, keySecretHash } = fields.hashData as HashData;
    return {
      id,
      organizationId: organization.id,
      name: String(fields.name),
      state: fields.state as KeyState,
      roles: (fields.roles ?? []) as KeyRole[],
      customRoleIds: (fields.customRoles as string[] | undefined)?.length
        ? (fields.customRoles as string[])
        : undefined,
      ipAccessList: fields.ipAccessList as IpAccessEntry[],
      keyIdHash,
      keySuffix: keyIdSuffix,
      keySecretHash,
      createdAt: parseDateTime(String(fields.createdAt), { offset: 'required' }) ?? 0,
      // A file may declare an expired key (decision K4).
      expireAt: parseDateTime(String(fields.expireAt), { offset: 'required' }),
      usedAt: before?.usedAt,
    };
  },

  violations: () => [],

  async save(tx, pairs) {
    for (const { before, after } of pairs) {
      if (before) await updateKey(tx, before, after);
      else if ((await insertKey(tx, after)) === 'taken')
        throw new AppError('conflict', `The key ${after.name} has the key id of another key`);
    }
  },

  remove: deleteKey,
};
