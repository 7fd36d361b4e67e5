import { type Actor, difference } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import { formatExpiry, parseFutureExpiry } from '../credentials/expiry.ts';
import { hashSecret, newKeyId, newKeySecret, toSuffix } from '../credentials/secrets.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { createTimeOrderedIds } from '../kernel/ids.ts';
import type { Page } from '../kernel/page.ts';
import type { KeyRole } from '../kernel/roles.ts';
import type { Organizations } from '../organizations/organizations.ts';
import type { ListQuery } from '../state/keyset.ts';
import type { InTransaction, State } from '../state/state.ts';
import type { Db } from '../state/tables.ts';
import {
  DEFAULT_NAME,
  DEFAULT_ROLES,
  type IpAccessEntry,
  isActive,
  isActiveAdmin,
  type Key,
  type KeyState,
} from './key.ts';
import { deleteKey, findKey, insertKey, listKeyPage, listKeys, updateKey } from './store.ts';

export interface HashData {
  keyIdHash: string;
  keyIdSuffix: string;
  keySecretHash: string;
}

/** The settings of a key that a client can choose. */
interface KeySettings {
  name?: string | undefined;
  state?: KeyState | undefined;
  roles?: KeyRole[] | undefined;
  /** ISO 8601 with an offset; null or empty: never. */
  expireAt?: string | null | undefined;
  ipAccessList?: IpAccessEntry[] | undefined;
}

interface CreatedKey {
  key: Key;
  /** Returned once; absent if the client sent hashes. */
  credentials?: { keyId: string; keySecret: string };
}

export interface RotatedKey extends CreatedKey {
  /** The old key, with its new expiry. */
  previous: Key;
}

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  maxKeys: number;
}

export type Keys = ReturnType<typeof createKeys>;

export function createKeys({ state, clock, audit, organizations, maxKeys }: Options) {
  const nextId = createTimeOrderedIds();

  async function get(db: Db, organizationId: string, id: string): Promise<Key> {
    const key = await findKey(db, organizationId, id);
    if (!key) throw new AppError('not_found', `key ${id} does not exist`);
    return key;
  }

  /** Throws `conflict` if the change would leave the organization without an active admin key. */
  async function assertAdminRemains(tx: Db, before: Key, after: Key | undefined, participle: string): Promise<void> {
    const now = clock.now();
    if (!isActiveAdmin(before, now) || (after && isActiveAdmin(after, now))) return;
    const keys = await listKeys(tx, before.organizationId);
    if (keys.some((key) => key.id !== before.id && isActiveAdmin(key, now))) return;
    throw new AppError(
      'conflict',
      `This is the last enabled admin key of the organization; it cannot be ${participle}`,
    );
  }

  /** Stores and audits the change; does nothing if nothing changed. */
  async function save(tx: Db, actor: Actor, before: Key, after: Key, details: object = {}): Promise<Key> {
    const changed = difference(toAuditFields(before), { ...toAuditFields(after), ...details });
    if (Object.keys({ ...changed.before, ...changed.after }).length === 0) return before;
    await updateKey(tx, after);
    await audit.record(tx, actor, {
      organizationId: after.organizationId,
      type: 'openapi_key_update',
      resource: { type: 'key', id: after.id },
      ...changed,
    });
    return after;
  }

  /** Stores and audits a new key. */
  async function insert(tx: Db, actor: Actor, key: Key, details: object = {}): Promise<void> {
    const outcome = await insertKey(tx, key, maxKeys);
    if (outcome === 'taken')
      throw new AppError('conflict', 'A key with this id already exists', { field: 'hashData.keyIdHash' });
    if (outcome === 'full')
      throw new AppError('conflict', `The organization has reached its limit of ${maxKeys} keys; delete one first`);
    await audit.record(tx, actor, {
      organizationId: key.organizationId,
      type: 'key_create',
      resource: { type: 'key', id: key.id },
      after: { ...toAuditFields(key), ...details },
    });
  }

  return {
    async create(
      actor: Actor,
      organizationId: string,
      settings: KeySettings,
      hashData?: HashData,
      inTransaction?: InTransaction<Key>,
    ): Promise<CreatedKey> {
      const now = clock.now();
      const expireAt = parseFutureExpiry(settings.expireAt, now);
      const { hashes, credentials } = resolveCredentials(hashData);
      // Time-ordered ids append to the end of the index instead of touching a random page.
      const key = toStoredKey(nextId(now), organizationId, now, hashes, {
        name: settings.name ?? DEFAULT_NAME,
        state: settings.state ?? 'enabled',
        roles: settings.roles ?? DEFAULT_ROLES,
        ipAccessList: settings.ipAccessList?.map(pickKnownFields) ?? [],
        expireAt,
      });
      await state.write(async (tx) => {
        await insert(tx, actor, key);
        await inTransaction?.(tx, key);
      });
      return credentials ? { key, credentials } : { key };
    },

    list: (organizationId: string): Promise<Key[]> => listKeys(state.db, organizationId),

    listPage: (organizationId: string, query: ListQuery): Promise<Page<Key>> =>
      listKeyPage(state.db, organizationId, query),

    get: (organizationId: string, id: string): Promise<Key> => get(state.db, organizationId, id),

    /** Omitted fields keep their value; the address list is replaced as a whole. */
    async update(actor: Actor, organizationId: string, id: string, settings: KeySettings): Promise<Key> {
      const expireAt = parseFutureExpiry(settings.expireAt, clock.now());
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const before = await get(tx, organizationId, id);
        const after: Key = {
          ...before,
          name: settings.name ?? before.name,
          state: settings.state ?? before.state,
          roles: settings.roles ?? before.roles,
          ipAccessList: settings.ipAccessList?.map(pickKnownFields) ?? before.ipAccessList,
          expireAt: settings.expireAt === undefined ? before.expireAt : expireAt,
        };
        await assertAdminRemains(tx, before, after, after.state === 'disabled' ? 'disabled' : 'demoted');
        return save(tx, actor, before, after);
      });
    },

    async remove(actor: Actor, organizationId: string, id: string): Promise<void> {
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const key = await get(tx, organizationId, id);
        if (actor.type === 'api' && actor.id === id)
          throw new AppError('conflict', 'A key cannot delete itself; use another key');
        await assertAdminRemains(tx, key, undefined, 'deleted');
        await deleteKey(tx, organizationId, id);
        await audit.record(tx, actor, {
          organizationId,
          type: 'key_delete',
          resource: { type: 'key', id },
          before: toAuditFields(key),
        });
      });
    },

    /**
     * Creates a key with the settings and the lifetime of an active key, which then expires after the grace period.
     * Both are ordinary records, so the last use of the old key tells whether a client still needs it.
     */
    async rotate(
      actor: Actor,
      organizationId: string,
      id: string,
      { gracePeriodMs, hashData }: { gracePeriodMs: number; hashData?: HashData | undefined },
      inTransaction?: InTransaction<RotatedKey>,
    ): Promise<RotatedKey> {
      const { hashes, credentials } = resolveCredentials(hashData);
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const before = await get(tx, organizationId, id);
        const now = clock.now();
        if (!isActive(before, now))
          throw new AppError('conflict', 'Only an active key can be rotated; this key is disabled or has expired');
        const key = toStoredKey(nextId(now), organizationId, now, hashes, {
          name: before.name,
          state: before.state,
          roles: before.roles,
          ipAccessList: before.ipAccessList,
          expireAt: before.expireAt === undefined ? undefined : now + (before.expireAt - before.createdAt),
        });
        await insert(tx, actor, key, { replaces: before.id });
        const expireAt = Math.min(before.expireAt ?? Number.POSITIVE_INFINITY, now + gracePeriodMs);
        const previous = await save(tx, actor, before, { ...before, expireAt }, { replacedBy: key.id });
        await inTransaction?.(tx, { key, previous });
        return { key, previous, ...(credentials ? { credentials } : {}) };
      });
    },
  };
}

/** New credentials, or the hashes of the client's own, which are never returned. */
function resolveCredentials(hashData: HashData | undefined) {
  if (hashData) return { hashes: hashData };
  const credentials = { keyId: newKeyId(), keySecret: newKeySecret() };
  return { hashes: hashCredentials(credentials), credentials };
}

function toStoredKey(
  id: string,
  organizationId: string,
  createdAt: number,
  { keyIdHash, keyIdSuffix, keySecretHash }: HashData,
  settings: Pick<Key, 'name' | 'state' | 'roles' | 'ipAccessList' | 'expireAt'>,
): Key {
  const hashes = { keyIdHash, keySuffix: keyIdSuffix, keySecretHash };
  return { id, organizationId, ...settings, ...hashes, createdAt, usedAt: undefined };
}

/** Unknown fields of an entry are ignored: they are neither stored nor audited. */
function pickKnownFields({ source, description }: IpAccessEntry): IpAccessEntry {
  return description === undefined ? { source } : { source, description };
}

export function hashCredentials({ keyId, keySecret }: { keyId: string; keySecret: string }): HashData {
  return { keyIdHash: hashSecret(keyId), keyIdSuffix: toSuffix(keyId), keySecretHash: hashSecret(keySecret) };
}

/** The fields of a key that the audit log may contain. */
function toAuditFields({ name, state, roles, ipAccessList, keySuffix, expireAt }: Key) {
  return { name, state, roles, ipAccessList, keySuffix, expireAt: formatExpiry(expireAt) };
}
