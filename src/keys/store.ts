import { memoized } from '../kernel/memo.ts';
import { isUniqueViolation } from '../state/failures.ts';
import { prepared } from '../state/prepared.ts';
import type { ApiKeyRow, Db } from '../state/tables.ts';
import type { IpAccessEntry, Key, KeyState, Role } from './key.ts';

const parseRoles = memoized((json) => JSON.parse(json) as Role[]);
const parseList = memoized((json) => JSON.parse(json) as IpAccessEntry[]);

const toKey = (row: ApiKeyRow): Key => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  state: row.state as KeyState,
  roles: parseRoles(row.roles),
  ipAccessList: parseList(row.ip_access_list),
  keyIdHash: row.key_id_hash,
  keySuffix: row.key_id_suffix,
  keySecretHash: row.key_secret_hash,
  createdAt: row.created_at,
  expireAt: row.expire_at ?? undefined,
  usedAt: row.used_at ?? undefined,
});

const toRow = (key: Key): ApiKeyRow => ({
  id: key.id,
  organization_id: key.organizationId,
  name: key.name,
  state: key.state,
  roles: JSON.stringify(key.roles),
  ip_access_list: JSON.stringify(key.ipAccessList),
  key_id_hash: key.keyIdHash,
  key_id_suffix: key.keySuffix,
  key_secret_hash: key.keySecretHash,
  created_at: key.createdAt,
  expire_at: key.expireAt ?? null,
  used_at: key.usedAt ?? null,
});

const selectByHash = prepared((db: Db, value: { keyIdHash: string }) =>
  db
    .selectFrom('api_keys')
    .innerJoin('organizations', 'organizations.id', 'api_keys.organization_id')
    .selectAll('api_keys')
    .select('organizations.cost_revision')
    .where('api_keys.key_id_hash', '=', value.keyIdHash),
);

/** The only look-up that knows no organization yet: it is how a request gets one. */
export async function findKeyByHash(
  db: Db,
  keyIdHash: string,
): Promise<{ key: Key; costRevision: number } | undefined> {
  const row = await selectByHash.first(db, { keyIdHash });
  return row && { key: toKey(row), costRevision: row.cost_revision };
}

export async function findKey(db: Db, organizationId: string, id: string): Promise<Key | undefined> {
  const row = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toKey(row);
}

export async function listKeys(db: Db, organizationId: string): Promise<Key[]> {
  const rows = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toKey);
}

const selectCount = prepared((db: Db, value: { organizationId: string }) =>
  db
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', value.organizationId),
);

export async function countKeys(db: Db, organizationId: string): Promise<number> {
  const row = await selectCount.first(db, { organizationId });
  return row?.count ?? 0;
}

const insert = prepared((db: Db, value: ApiKeyRow) =>
  db.insertInto('api_keys').values({
    id: value.id,
    organization_id: value.organization_id,
    name: value.name,
    state: value.state,
    roles: value.roles,
    ip_access_list: value.ip_access_list,
    key_id_hash: value.key_id_hash,
    key_id_suffix: value.key_id_suffix,
    key_secret_hash: value.key_secret_hash,
    created_at: value.created_at,
    expire_at: value.expire_at,
    used_at: value.used_at,
  }),
);

/** False when the credential id is taken, in this organization or any other. */
export async function insertKey(tx: Db, key: Key): Promise<boolean> {
  try {
    await insert.first(tx, toRow(key));
    return true;
  } catch (error) {
    if (isUniqueViolation(error)) return false;
    throw error;
  }
}

export async function updateKey(tx: Db, key: Key): Promise<void> {
  const { id, organization_id, created_at, used_at, ...changeable } = toRow(key);
  await tx
    .updateTable('api_keys')
    .set(changeable)
    .where('organization_id', '=', organization_id)
    .where('id', '=', id)
    .execute();
}

export async function deleteKey(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx.deleteFrom('api_keys').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}

/** Never backwards: another node may have seen the key later. */
export async function markUsed(tx: Db, organizationId: string, id: string, usedAt: number): Promise<void> {
  await tx
    .updateTable('api_keys')
    .set({ used_at: usedAt })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where((eb) => eb.or([eb('used_at', 'is', null), eb('used_at', '<', usedAt)]))
    .execute();
}
