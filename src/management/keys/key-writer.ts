import { type CustomRole, getSystemRoleId } from '../../kernel/access/roles.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { Db } from '../../platform/state/tables.ts';
import { type Actor, difference } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import { assertMayHandOut, assertMayManage } from '../hand-outs/hand-out.ts';
import type { Limited, RoleReader } from './assigned-roles.ts';
import { canManageAccess, isActiveAdmin, type Key } from './key.ts';
import { insertKey, listKeysWithRole, updateKey } from './store.ts';
import { toAuditFields } from './stored-key.ts';

interface Options {
  clock: Clock;
  audit: Audit;
  roleReader: RoleReader;
  maxKeys: number;
}

const ADMIN_ROLE_ID = getSystemRoleId('admin');
const FIRST_ADMINS = 10;

export type KeyWriter = ReturnType<typeof createKeyWriter>;

/** The rules and the activity of every change of a key. The caller has locked the organization. */
export function createKeyWriter({ clock, audit, roleReader, maxKeys }: Options) {
  /** The custom roles of a key. Throws `forbidden` if the key permits more than the caller may do. */
  async function readManageableRoles(tx: Db, key: Key, { caller }: Limited): Promise<CustomRole[]> {
    const customRoles = await roleReader.list(tx, key.organizationId, key.customRoleIds ?? []);
    assertMayManage(caller, { roles: key.roles, customRoles }, `The key ${key.name}`);
    return customRoles;
  }

  /** The custom roles of a key that is new or gets more rights. Throws `forbidden` if the caller may not give them. */
  async function readGivenRoles(tx: Db, key: Key, { caller }: Limited): Promise<CustomRole[]> {
    const customRoles = await roleReader.list(tx, key.organizationId, key.customRoleIds ?? []);
    assertMayHandOut(caller, { roles: key.roles, customRoles }, `The key ${key.name}`);
    return customRoles;
  }

  /** Whether a key, other than `exceptId`, can manage the keys and roles of the organization. */
  async function hasManager(tx: Db, organizationId: string, exceptId?: string): Promise<boolean> {
    // The oldest admin keys usually include one, and the others need not be read.
    const oldest = await listKeysWithRole(tx, organizationId, ADMIN_ROLE_ID, FIRST_ADMINS);
    if (await includesManager(tx, organizationId, oldest, exceptId)) return true;
    const all = await listKeysWithRole(tx, organizationId, ADMIN_ROLE_ID, Number.MAX_SAFE_INTEGER);
    return includesManager(tx, organizationId, all, exceptId);
  }

  async function includesManager(
    tx: Db,
    organizationId: string,
    keys: readonly Key[],
    exceptId: string | undefined,
  ): Promise<boolean> {
    const now = clock.now();
    const admins = keys.filter((key) => key.id !== exceptId && isActiveAdmin(key, now));
    if (admins.some(({ customRoleIds }) => !customRoleIds)) return true;
    for (const key of admins)
      if (canManageAccess(key, await roleReader.list(tx, organizationId, key.customRoleIds ?? []), now)) return true;
    return false;
  }

  /** Throws `conflict` if the change would leave the organization without an active admin key that can manage it. */
  async function assertAdminRemains(tx: Db, before: Key, after: Key | undefined, participle: string): Promise<void> {
    const now = clock.now();
    const isManager = async (key: Key) =>
      canManageAccess(key, await roleReader.list(tx, key.organizationId, key.customRoleIds ?? []), now);
    if (!(await isManager(before)) || (after && (await isManager(after)))) return;
    if (await hasManager(tx, before.organizationId, before.id)) return;
    const rule =
      after && isActiveAdmin(after, now)
        ? 'a role cannot deny it the management of keys and roles'
        : `it cannot be ${participle}`;
    throw new AppError('conflict', `This is the last enabled admin key of the organization; ${rule}`);
  }

  /** Runs a change of a role and its keys; throws `conflict` if no key could manage keys and roles afterwards. */
  async function keepManager<T>(tx: Db, organizationId: string, change: () => Promise<T>): Promise<T> {
    const hadManager = await hasManager(tx, organizationId);
    const result = await change();
    if (hadManager && !(await hasManager(tx, organizationId)))
      throw new AppError(
        'conflict',
        'After this change, no enabled admin key of the organization could manage keys and roles; create another admin key first',
      );
    return result;
  }

  /** Stores and audits the change; does nothing if nothing changed. */
  async function save(tx: Db, actor: Actor, before: Key, after: Key, details: object = {}): Promise<Key> {
    const changed = difference(toAuditFields(before), { ...toAuditFields(after), ...details });
    if (Object.keys({ ...changed.before, ...changed.after }).length === 0) return before;
    await updateKey(tx, before, after);
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

  return { readManageableRoles, readGivenRoles, assertAdminRemains, keepManager, save, insert };
}
