import { LRUCache } from 'lru-cache';
import { createGrants, type Grants } from '../../kernel/access/grants.ts';
import type { KeyWithRoles } from '../../kernel/access/roles.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { RoleReader } from '../keys/assigned-roles.ts';
import { listRolesById } from './store.ts';

const MAX_CACHED_BYTES = 32 * 1024 * 1024;
/** The grants of a key without the text of its roles. */
const ENTRY_BYTES = 1024;

/** Reads the custom roles of keys. Grants are cached until a role of the organization changes. */
export function createRoleReader({ db }: { db: Db }): RoleReader {
  const cache = new LRUCache<string, { grants: Grants; bytes: number }>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
  });

  async function readGrants(id: string, { organizationId, roles, customRoleIds = [] }: KeyWithRoles): Promise<Grants> {
    const customRoles = await listRolesById(db, organizationId, customRoleIds);
    const grants = createGrants(roles, customRoles);
    cache.set(id, { grants, bytes: ENTRY_BYTES + JSON.stringify(customRoles).length });
    return grants;
  }

  return {
    list: listRolesById,

    /** The revision was read with the key: the roles that are read afterwards are at least as recent. */
    async getGrants(key, roleRevision) {
      const id = [key.organizationId, roleRevision, key.roles, ...(key.customRoleIds ?? [])].join(' ');
      return cache.get(id)?.grants ?? readGrants(id, key);
    },
  };
}
