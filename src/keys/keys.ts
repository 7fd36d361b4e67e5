import { type Actor, difference } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import { formatExpiry, parseFutureExpiry } from '../credentials/expiry.ts';
import { hashSecret, newKeyId, newKeySecret, toSuffix } from '../credentials/secrets.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { createTimeOrderedIds } from '../kernel/ids.ts';
import type { KeyRole } from '../kernel/roles.ts';
import type { Organizations } from '../organizations/organizations.ts';
import type { InTransaction, State } from '../state/state.ts';
import type { Db } from '../state/tables.ts';
import { DEFAULT_NAME, DEFAULT_ROLES, type IpAccessEntry, isActiveAdmin, type Key, type KeyState } from './key.ts';
import { deleteKey, findKey, insertKey, listKeys, updateKey } from './store.ts';

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
  async function save(tx: Db, actor: Actor, before: Key, after: Key): Promise<Key> {
    const changed = difference(toAuditFields(before), toAuditFields(after));
    if (
      Object.keys({ ...changed.before, ...changed.after }).length === 0 &&
      before.keySecretHash === after.keySecretHash
    )
      return before;
    await updateKey(tx, after);
    await audit.record(tx, actor, {
      organizationId: after.organizationId,
      type: 'openapi_key_update',
      resource: { type: 'key', id: after.id },
      ...changed,
    });
    return after;
  }

  return {
    async create(
      actor: Actor,
      organizationId: string,
      settings: KeySettings,
      hashData?: HashData,
      inTransaction?: InTransaction<Key>,
    ): Promise<CreatedKey> {
      const expireAt = parseFutureExpiry(settings.expireAt, clock.now());
      const credentials = hashData ? undefined : { keyId: newKeyId(), keySecret: newKeySecret() };
      const hashes = hashData ?? hashCredentials(credentials as { keyId: string; keySecret: string });
      const key: Key = {
        // Time-ordered ids append to the end of the index instead of touching a random page.
        id: nextId(clock.now()),
        organizationId,
        name: settings.name ?? DEFAULT_NAME,
        state: settings.state ?? 'enabled',
        roles: settings.roles ?? DEFAULT_ROLES,
        ipAccessList: settings.ipAccessList?.map(pickKnownFields) ?? [],
        keyIdHash: hashes.keyIdHash,
        keySuffix: hashes.keyIdSuffix,
        keySecretHash: hashes.keySecretHash,
        createdAt: clock.now(),
        expireAt,
        usedAt: undefined,
      };
      await state.write(async (tx) => {
        const outcome = await insertKey(tx, key, maxKeys);
        if (outcome === 'taken')
          throw new AppError('conflict', 'A key with this id already exists', { field: 'hashData.keyIdHash' });
        if (outcome === 'full') {
          throw new AppError('conflict', `The organization has reached its limit of ${maxKeys} keys; delete one first`);
        }
        await audit.record(tx, actor, {
          organizationId,
          type: 'key_create',
          resource: { type: 'key', id: key.id },
          after: toAuditFields(key),
        });
        await inTransaction?.(tx, key);
      });
      return credentials ? { key, credentials } : { key };
    },

    list: (organizationId: string): Promise<Key[]> => listKeys(state.db, organizationId),

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

    /** Generates a new secret for the same key id. The old secret stops working immediately. */
    async rotate(actor: Actor, organizationId: string, id: string): Promise<{ key: Key; keySecret: string }> {
      const keySecret = newKeySecret();
      const key = await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const before = await get(tx, organizationId, id);
        return save(tx, actor, before, { ...before, keySecretHash: hashSecret(keySecret) });
      });
      return { key, keySecret };
    },
  };
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
