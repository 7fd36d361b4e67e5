import { findSystemRole } from '../../kernel/access/roles.ts';
import { memoizeByObject } from '../../kernel/memo.ts';
import { type Page, toSortName } from '../../kernel/page.ts';
import { type MaybePromise, mapMaybe } from '../../kernel/tasks/maybe-promise.ts';
import { MAX_LEAD_MS } from '../../platform/credentials/last-used.ts';
import { isUniqueViolation } from '../../platform/state/failures.ts';
import { countRecords, type ListQuery, listPage } from '../../platform/state/keyset.ts';
import { prepared } from '../../platform/state/prepared.ts';
import type { ApiKeyRow, Db } from '../../platform/state/tables.ts';
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

/** The keys with a role, or with any custom role; oldest first, at most `limit`. */
export async function listKeysWithRole(
  db: Db,
  organizationId: string,
  roleId: string | 'custom',
  limit: number,
): Promise<Key[]> {
  const systemRole = findSystemRole(roleId);
  const pattern = systemRole
    ? `%"roles":[%"${systemRole}"%`
    : `%"customRoleIds":["%${roleId === 'custom' ? '' : `${roleId}"%`}`;
  const rows = await db
    .selectFrom('api_keys')
    .select(['document', 'used_at'])
    .where('organization_id', '=', organizationId)
    .where('document', 'like', pattern)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  // The pattern also matches a key that has the same text in a later member.
  return rows
    .map(toKey)
    .filter(({ roles, customRoleIds = [] }) =>
      systemRole ? roles.includes(systemRole) : roleId === 'custom' || customRoleIds.includes(roleId),
    );
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
    return 'inserted';
  } catch (error) {
    if (isUniqueViolation(error)) return 'taken';
    throw error;
  }
}

export async function updateKey(tx: Db, key: Key): Promise<void> {
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
}

/** The key must exist: the organization's key count is decremented. */
export async function deleteKey(tx: Db, organizationId: string, id: string): Promise<void> {
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
