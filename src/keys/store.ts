import { type MaybePromise, mapMaybe } from '../kernel/maybe-promise.ts';
import { memoizeByObject } from '../kernel/memo.ts';
import { isUniqueViolation } from '../state/failures.ts';
import { prepared } from '../state/prepared.ts';
import type { ApiKeyRow, Db } from '../state/tables.ts';
import type { Key } from './key.ts';

/** `usedAt` changes apart from everything else, so it is a column and not part of the document. */
const toKey = ({ document, used_at }: Pick<ApiKeyRow, 'document' | 'used_at'>): Key => {
  const key: Key = JSON.parse(document);
  if (used_at !== null) key.usedAt = used_at;
  return key;
};

const documentOf = (key: Key): string => JSON.stringify(key.usedAt === undefined ? key : { ...key, usedAt: undefined });

const selectByHash = prepared((db: Db, value: { keyIdHash: string }) =>
  db
    .selectFrom('api_keys')
    .innerJoin('organizations', 'organizations.id', 'api_keys.organization_id')
    .select(['api_keys.document', 'api_keys.used_at', 'organizations.cost_revision'])
    .where('api_keys.key_id_hash', '=', value.keyIdHash),
);

/** A key, ready to be checked. */
export interface Identified {
  key: Key;
  keySecretHash: Buffer;
  costRevision: number;
}

/** The only look-up that knows no organization yet: it is how a request gets one. */
export function findKeyByHash(db: Db, keyIdHash: string): MaybePromise<Identified | undefined> {
  return mapMaybe(selectByHash.first(db, { keyIdHash }), (row) => row && identified(row));
}

const identified = memoizeByObject(
  (row: { document: string; used_at: number | null; cost_revision: number }): Identified => {
    const key = toKey(row);
    return { key, keySecretHash: Buffer.from(key.keySecretHash), costRevision: row.cost_revision };
  },
);

const selectCurrent = prepared((db: Db, value: { organizationId: string; id: string }) =>
  db
    .selectFrom('api_keys')
    .innerJoin('organizations', 'organizations.id', 'api_keys.organization_id')
    .select([
      'api_keys.document',
      'api_keys.used_at',
      'organizations.cost_revision',
      'organizations.dashboard_revision',
    ])
    .where('api_keys.organization_id', '=', value.organizationId)
    .where('api_keys.id', '=', value.id),
);

/** As it is now, with both revisions of its organization. */
export async function findCurrentKey(
  db: Db,
  organizationId: string,
  id: string,
): Promise<{ key: Key; costRevision: number; dashboardRevision: number } | undefined> {
  const row = await selectCurrent.first(db, { organizationId, id });
  return row && { key: toKey(row), costRevision: row.cost_revision, dashboardRevision: row.dashboard_revision };
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

const countOneMore = prepared((db: Db, value: { organizationId: string; maxKeys: number }) =>
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
  }),
);

/**
 * Holds the organization's row until the transaction ends. Inserts nothing when the organization is `full`, or when the
 * credential id is `taken`, in this organization or any other.
 */
export async function insertKey(
  tx: Db,
  key: Key,
  maxKeys = Number.MAX_SAFE_INTEGER,
): Promise<'inserted' | 'full' | 'taken'> {
  const counted = await countOneMore.execute(tx, { organizationId: key.organizationId, maxKeys });
  if (counted === 0) return 'full';
  try {
    await insert.first(tx, {
      id: key.id,
      organization_id: key.organizationId,
      key_id_hash: key.keyIdHash,
      created_at: key.createdAt,
      used_at: key.usedAt ?? null,
      document: documentOf(key),
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
    .set({ key_id_hash: key.keyIdHash, created_at: key.createdAt, document: documentOf(key) })
    .where('organization_id', '=', key.organizationId)
    .where('id', '=', key.id)
    .execute();
}

/** Of a key that is there: the organization's count goes down with it. */
export async function deleteKey(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx.deleteFrom('api_keys').where('organization_id', '=', organizationId).where('id', '=', id).execute();
  await tx
    .updateTable('organizations')
    .set((eb) => ({ key_count: eb('key_count', '-', 1) }))
    .where('id', '=', organizationId)
    .execute();
}

/** Never backwards: another node may have seen the key later. */
export async function markKeyUsed(tx: Db, organizationId: string, id: string, usedAt: number): Promise<void> {
  await tx
    .updateTable('api_keys')
    .set({ used_at: usedAt })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where((eb) => eb.or([eb('used_at', 'is', null), eb('used_at', '<', usedAt)]))
    .execute();
}
