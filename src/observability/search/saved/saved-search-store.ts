import type { SavedSearchRow } from '../../../platform/state/tables/query-tables.ts';
import type { Db } from '../../../platform/state/tables.ts';
import type { SavedSearch } from './saved-search.ts';

const toSavedSearch = (row: SavedSearchRow): SavedSearch => ({
  id: row.id,
  organizationId: row.organization_id,
  content: JSON.parse(row.document),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

/** Ordered by id; all without a page. */
export async function listSavedSearches(
  db: Db,
  organizationId: string,
  page?: { limit: number; offset: number },
): Promise<SavedSearch[]> {
  const query = db.selectFrom('saved_searches').selectAll().where('organization_id', '=', organizationId).orderBy('id');
  const rows = await (page ? query.limit(page.limit).offset(page.offset) : query).execute();
  return rows.map(toSavedSearch);
}

export async function countSavedSearches(db: Db, organizationId: string): Promise<number> {
  const row = await db
    .selectFrom('saved_searches')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

export async function findSavedSearch(db: Db, organizationId: string, id: string): Promise<SavedSearch | undefined> {
  const row = await db
    .selectFrom('saved_searches')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toSavedSearch(row);
}

export async function putSavedSearch(tx: Db, search: SavedSearch): Promise<void> {
  const { id, organizationId, content, createdAt, updatedAt } = search;
  const row = { source_id: content.sourceId, document: JSON.stringify(content), updated_at: updatedAt };
  await tx
    .insertInto('saved_searches')
    .values({ organization_id: organizationId, id, created_at: createdAt, ...row })
    .onConflict((conflict) => conflict.columns(['organization_id', 'id']).doUpdateSet(row))
    .execute();
}

export async function deleteSavedSearch(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx.deleteFrom('saved_searches').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}

/** The first saved search of a source. */
export async function findSavedSearchUsingSource(
  db: Db,
  organizationId: string,
  sourceId: string,
): Promise<{ id: string; name: string } | undefined> {
  const row = await db
    .selectFrom('saved_searches')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('source_id', '=', sourceId)
    .limit(1)
    .executeTakeFirst();
  return row && { id: row.id, name: toSavedSearch(row).content.name };
}
