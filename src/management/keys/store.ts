import { findSystemRole } from '../../kernel/access/roles.ts';
import { type Page, toSortName } from '../../kernel/page.ts';
import { createCredentialStore } from '../../platform/credentials/store.ts';
import { isUniqueViolation } from '../../platform/state/failures.ts';
import { countRecords, type ListQuery, listPage } from '../../platform/state/keyset.ts';
import { prepared } from '../../platform/state/prepared.ts';
import { preparedRows } from '../../platform/state/prepared-rows.ts';
import type { ApiKeyRow, Db, KeyRoleRow } from '../../platform/state/tables.ts';
import type { Key } from './key.ts';

/** `usedAt` is updated separately from all other fields, so it is a column and not part of the document. */
const toKey = ({ document, used_at }: Pick<ApiKeyRow, 'document' | 'used_at'>): Key => {
  const key: Key = JSON.parse(document);
  if (used_at !== null) key.usedAt = used_at;
  return key;
};

const toDocument = (key: Key): string => JSON.stringify(key.usedAt === undefined ? key : { ...key, usedAt: undefined });

const credentials = createCredentialStore({
  table: 'api_keys',
  hashColumn: 'key_id_hash',
  columns: ['document', 'used_at'],
  toCredential: toKey,
});

export const { findByHash: findKeyByHash, find: findKeyWithRevisions, list: listKeys } = credentials;

export const findKey = async (db: Db, organizationId: string, id: string): Promise<Key | undefined> =>
  (await credentials.find(db, organizationId, id))?.credential;

export const listKeyPage = (db: Db, organizationId: string, query: ListQuery): Promise<Page<Key>> =>
  listPage(db, { table: 'api_keys', columns: ['document', 'used_at'], toItem: toKey }, organizationId, query);

/** All keys of an organization are counted in its row; those that match a search are counted one by one. */
export async function countKeys(
  db: Db,
  organizationId: string,
  { search }: Pick<ListQuery, 'search'>,
): Promise<number> {
  if (search !== undefined) return countRecords(db, 'api_keys', organizationId, search);
  const row = await selectCount.first(db, { organizationId });
  return row?.key_count ?? 0;
}

const selectCount = prepared((db: Db, value: { organizationId: string }) =>
  db.selectFrom('organizations').select('key_count').where('id', '=', value.organizationId),
);

/** A role is found by its rows in `key_roles`; a key is read without them, because its document has its roles too. */
const toRoleRows = ({ organizationId, id, createdAt, roles, customRoleIds = [] }: Key): KeyRoleRow[] =>
  [...new Set<string>([...roles, ...customRoleIds])].map((role) => ({
    organization_id: organizationId,
    role,
    created_at: createdAt,
    key_id: id,
  }));

const insertRoles = preparedRows<KeyRoleRow>(['organization_id', 'role', 'created_at', 'key_id'], (db, rows) =>
  db.insertInto('key_roles').values(rows),
);

async function deleteRoles(tx: Db, key: Key): Promise<void> {
  for (const { role } of toRoleRows(key))
    await tx
      .deleteFrom('key_roles')
      .where('organization_id', '=', key.organizationId)
      .where('role', '=', role)
      .where('created_at', '=', key.createdAt)
      .where('key_id', '=', key.id)
      .execute();
}

const selectByRole = (db: Db, organizationId: string, roleId: string, limit: number) =>
  db
    .selectFrom('key_roles')
    .where('key_roles.organization_id', '=', organizationId)
    .where('key_roles.role', '=', findSystemRole(roleId) ?? roleId)
    .orderBy('key_roles.created_at')
    .orderBy('key_roles.key_id')
    .limit(limit);

/** The keys with a role; oldest first, at most `limit`. */
export async function listKeysWithRole(db: Db, organizationId: string, roleId: string, limit: number): Promise<Key[]> {
  const rows = await selectByRole(db, organizationId, roleId, limit)
    .innerJoin('api_keys', (join) =>
      join
        .onRef('api_keys.organization_id', '=', 'key_roles.organization_id')
        .onRef('api_keys.id', '=', 'key_roles.key_id'),
    )
    .select(['api_keys.document', 'api_keys.used_at'])
    .execute();
  return rows.map(toKey);
}

/** The ids of the same keys. */
export async function listKeyIdsWithRole(
  db: Db,
  organizationId: string,
  roleId: string,
  limit: number,
): Promise<string[]> {
  const rows = await selectByRole(db, organizationId, roleId, limit).select('key_roles.key_id').execute();
  return rows.map(({ key_id }) => key_id);
}

const incrementKeyCount = prepared((db: Db, value: { organizationId: string; maxKeys: number }) =>
  db
    .updateTable('organizations')
    .set((eb) => ({ key_count: eb('key_count', '+', 1) }))
    .where('id', '=', value.organizationId)
    .where('key_count', '<', value.maxKeys),
);

const insert = prepared((db: Db, value: ApiKeyRow) =>
  db.insertInto('api_keys').values({
    id: value.id,
    organization_id: value.organization_id,
    key_id_hash: value.key_id_hash,
    created_at: value.created_at,
    used_at: value.used_at,
    document: value.document,
    sort_name: value.sort_name,
  }),
);

/**
 * Locks the organization's row until the transaction ends. Inserts nothing if the organization is `full`, or if the
 * key id is `taken` in any organization.
 */
export async function insertKey(
  tx: Db,
  key: Key,
  maxKeys = Number.MAX_SAFE_INTEGER,
): Promise<'inserted' | 'full' | 'taken'> {
  const counted = await incrementKeyCount.execute(tx, { organizationId: key.organizationId, maxKeys });
  if (counted === 0) return 'full';
  try {
    await insert.first(tx, {
      id: key.id,
      organization_id: key.organizationId,
      key_id_hash: key.keyIdHash,
      created_at: key.createdAt,
      used_at: key.usedAt ?? null,
      document: toDocument(key),
      sort_name: toSortName(key.name),
    });
  } catch (error) {
    if (isUniqueViolation(error)) return 'taken';
    throw error;
  }
  await insertRoles(tx, toRoleRows(key));
  return 'inserted';
}

export async function updateKey(tx: Db, before: Key, key: Key): Promise<void> {
  await tx
    .updateTable('api_keys')
    .set({
      key_id_hash: key.keyIdHash,
      created_at: key.createdAt,
      document: toDocument(key),
      sort_name: toSortName(key.name),
    })
    .where('organization_id', '=', key.organizationId)
    .where('id', '=', key.id)
    .execute();
  // Most changes of a key do not concern its roles.
  if (JSON.stringify(toRoleRows(before)) === JSON.stringify(toRoleRows(key))) return;
  await deleteRoles(tx, before);
  await insertRoles(tx, toRoleRows(key));
}

/** The key must exist: the organization's key count is decremented. */
export async function deleteKey(tx: Db, key: Key): Promise<void> {
  const { organizationId, id } = key;
  await deleteRoles(tx, key);
  await credentials.remove(tx, organizationId, id);
  await tx
    .updateTable('organizations')
    .set((eb) => ({ key_count: eb('key_count', '-', 1) }))
    .where('id', '=', organizationId)
    .execute();
}
