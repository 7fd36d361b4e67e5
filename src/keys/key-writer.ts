import { type Actor, difference } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import type { CustomRole } from '../kernel/roles.ts';
import type { Db } from '../state/tables.ts';
import { assertWithinGrants, type Limited, type RoleReader } from './assigned-roles.ts';
import { isActiveAdmin, type Key } from './key.ts';
import { insertKey, listKeys, updateKey } from './store.ts';
import { toAuditFields } from './stored-key.ts';

interface Options {
  clock: Clock;
  audit: Audit;
  roleReader: RoleReader;
  maxKeys: number;
}

export type KeyWriter = ReturnType<typeof createKeyWriter>;

/** The rules and the activity of every change of a key. The caller has locked the organization. */
export function createKeyWriter({ clock, audit, roleReader, maxKeys }: Options) {
  /** The custom roles of a key. Throws `forbidden` if the key permits more than the caller may do. */
  async function readManageableRoles(tx: Db, key: Key, { callerGrants }: Limited): Promise<CustomRole[]> {
    const customRoles = await roleReader.list(tx, key.organizationId, key.customRoleIds ?? []);
    assertWithinGrants(callerGrants, key, customRoles, `The key ${key.name}`);
    return customRoles;
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

  return { readManageableRoles, assertAdminRemains, save, insert };
}
