import { findSystemRole } from '../../kernel/access/roles.ts';
import { memoizeByObject } from '../../kernel/memo.ts';
import { type Page, toSortName } from '../../kernel/page.ts';
import { type MaybePromise, mapMaybe } from '../../kernel/tasks/maybe-promise.ts';
import { MAX_LEAD_MS } from '../../platform/credentials/last-used.ts';
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

const selectByHash = prepared((db: Db, value: { keyIdHash: string }) =>
  db
    .selectFrom('api_keys')
    .innerJoin('organizations', 'organizations.id', 'api_keys.organization_id')
    .select(['api_keys.document', 'api_keys.used_at', 'organizations.cost_revision', 'organizations.role_revision'])
    .where('api_keys.key_id_hash', '=', value.keyIdHash),
);

/** A key found by its key id; its secret is not verified yet. */
export interface KeyCandidate {
  key: Key;
  keySecretHash: Buffer;
  costRevision: number;
  roleRevision: number;
}

/** Not limited to an organization: the key determines the organization of the request. */
export function findKeyByHash(db: Db, keyIdHash: string): MaybePromise<KeyCandidate | undefined> {
  return mapMaybe(selectByHash.first(db, { keyIdHash }), (row) => row && toCandidate(row));
}

const toCandidate = memoizeByObject(
  (row: { document: string; used_at: number | null; cost_revision: number; role_revision: number }): KeyCandidate => {
    const key = toKey(row);
    return {
      key,
      keySecretHash: Buffer.from(key.keySecretHash),
      costRevision: row.cost_revision,
      roleRevision: row.role_revision,
    };
  },
);

const selectWithRevisions = prepared((db: Db, value: { organizationId: string; id: string }) =>
  db
    .selectFrom('api_keys')
    .innerJoin('organizations', 'organizations.id', 'api_keys.organization_id')
    .select([
      'api_keys.document',
      'api_keys.used_at',
      'organizations.cost_revision',
      'organizations.dashboard_revision',
      'organizations.role_revision',
    ])
    .where('api_keys.organization_id', '=', value.organizationId)
    .where('api_keys.id', '=', value.id),
);

export interface KeyWithRevisions {
  key: Key;
  costRevision: number;
  dashboardRevision: number;
  roleRevision: number;
}

export async function findKeyWithRevisions(
  db: Db,
  organizationId: string,
  id: string,
): Promise<KeyWithRevisions | undefined> {
  const row = await selectWithRevisions.first(db, { organizationId, id });
  return (
    row && {
      key: toKey(row),
      costRevision: row.cost_revision,
      dashboardRevision: row.dashboard_revision,
      roleRevision: row.role_revision,
    }
  );
}

export async function findKey(db: Db, organizationId: string, id: string): Promise<Key | undefined> {
  const row = await db
    .selectFrom('api_keys')
    .select(['document', 'used_at'])
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toKey(row);
}

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

export async function listKeys(db: Db, organizationId: string): Promise<Key[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select(['document', 'used_at'])
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toKey);
}

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
  await tx.deleteFrom('api_keys').where('organization_id', '=', organizationId).where('id', '=', id).execute();
  await tx
    .updateTable('organizations')
    .set((eb) => ({ key_count: eb('key_count', '-', 1) }))
    .where('id', '=', organizationId)
    .execute();
}

/** Never moves backwards: another node may have stored a later use. */
export async function markKeyUsed(tx: Db, organizationId: string, id: string, usedAt: number): Promise<void> {
  await tx
    .updateTable('api_keys')
    .set({ used_at: usedAt })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where((eb) =>
      eb.or([eb('used_at', 'is', null), eb('used_at', '<', usedAt), eb('used_at', '>', usedAt + MAX_LEAD_MS)]),
    )
    .execute();
}
