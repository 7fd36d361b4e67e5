import { AppError, rejectViolations } from '../../kernel/errors.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Actor } from '../audit/activity.ts';
import { type Limited, MAX_ACTORS, withRole } from './assigned-roles.ts';
import type { Key } from './key.ts';
import type { KeyWriter } from './key-writer.ts';
import { findKey, listKeyIdsWithRole, listKeysWithRole } from './store.ts';

export type RoleAssignments = ReturnType<typeof createRoleAssignments>;

/** Which keys have a role. */
export function createRoleAssignments({ writer }: { writer: KeyWriter }) {
  async function getKey(tx: Db, organizationId: string, id: string): Promise<Key> {
    const key = await findKey(tx, organizationId, id);
    const rule = 'The key does not exist in this organization';
    if (!key) rejectViolations([{ path: 'actors', rule, value: `apiKey/${id}` }]);
    return key as Key;
  }

  return {
    /** The keys with a role, oldest first. */
    list: listKeysWithRole,
    listIds: listKeyIdsWithRole,

    keepManager: writer.keepManager,

    /**
     * Gives the role to these keys and, with `removesOthers`, takes it from all others, inside `keepManager`. The caller
     * has locked the organization.
     */
    async change(
      tx: Db,
      actor: Actor,
      { organizationId, id: roleId }: { organizationId: string; id: string },
      { keyIds, removesOthers, caller }: { keyIds: readonly string[]; removesOthers: boolean } & Limited,
    ): Promise<void> {
      const others = removesOthers ? await listKeysWithRole(tx, organizationId, roleId, MAX_ACTORS + 1) : [];
      if (others.length > MAX_ACTORS) throw tooManyHolders();
      for (const keyId of new Set([...keyIds, ...others.map(({ id }) => id)])) {
        const before = others.find(({ id }) => id === keyId) ?? (await getKey(tx, organizationId, keyId));
        const after = withRole(before, roleId, keyIds.includes(keyId));
        if (after === before) continue;
        // Taking the role of an administrator away needs a recent sign-in too.
        for (const key of [before, after]) await writer.readGivenRoles(tx, key, { caller });
        await writer.save(tx, actor, before, after);
      }
    },
  };
}

const tooManyHolders = (): AppError =>
  new AppError('conflict', `More than ${MAX_ACTORS} keys have the role; change the roles of each key instead`);
