import { open, seal } from '../../platform/state/secrets/sealed-columns.ts';
import type { SavedQueryRow } from '../../platform/state/tables/query-tables.ts';
import type { Db } from '../../platform/state/tables.ts';

export interface SavedQueryContent {
  name: string;
  sql: string;
  database: string;
  parameters: Record<string, string>;
}

/** A statement that is kept with a service. */
export interface SavedQuery extends SavedQueryContent {
  id: string;
  createdAt: number;
}

/** A saved query without its statement. */
export type ListedQuery = Pick<SavedQuery, 'id' | 'name' | 'database' | 'createdAt'>;

/** The service that has them. */
export interface QueryOwner {
  organizationId: string;
  serviceId: string;
}

const toSavedQuery = (db: Db, row: SavedQueryRow): SavedQuery => ({
  ...JSON.parse(open(db, 'saved_queries', row, row.document)),
  id: row.id,
  createdAt: row.created_at,
  name: row.name,
  database: row.database_name,
});

/** Oldest first, after a position. */
export async function listSavedQueries(
  db: Db,
  { organizationId, serviceId }: QueryOwner,
  { limit, after }: { limit: number; after: readonly [createdAt: number, id: string] | undefined },
): Promise<ListedQuery[]> {
  let query = db
    .selectFrom('saved_queries')
    .select(['id', 'created_at', 'name', 'database_name'])
    .where('organization_id', '=', organizationId)
    .where('service_id', '=', serviceId);
  if (after) {
    const [createdAt, id] = after;
    query = query.where((eb) =>
      eb.or([eb('created_at', '>', createdAt), eb.and([eb('created_at', '=', createdAt), eb('id', '>', id)])]),
    );
  }
  const rows = await query.orderBy('created_at').orderBy('id').limit(limit).execute();
  return rows.map(({ id, created_at, name, database_name }) => ({
    id,
    createdAt: created_at,
    name,
    database: database_name,
  }));
}

export async function countSavedQueries(db: Db, { organizationId, serviceId }: QueryOwner): Promise<number> {
  const { count } = await db
    .selectFrom('saved_queries')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .where('service_id', '=', serviceId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function findSavedQuery(
  db: Db,
  { organizationId, serviceId }: QueryOwner,
  id: string,
): Promise<SavedQuery | undefined> {
  const row = await db
    .selectFrom('saved_queries')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('service_id', '=', serviceId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toSavedQuery(db, row);
}

/** Inserts or replaces. */
export async function putSavedQuery(
  tx: Db,
  { organizationId, serviceId }: QueryOwner,
  query: SavedQuery,
): Promise<void> {
  const { id, createdAt, name, database, sql, parameters } = query;
  const key = { organization_id: organizationId, service_id: serviceId, id };
  const document = seal(tx, 'saved_queries', key, JSON.stringify({ sql, parameters }));
  const changed = { name, database_name: database, document };
  await tx
    .insertInto('saved_queries')
    .values({ ...key, created_at: createdAt, ...changed })
    .onConflict((conflict) => conflict.columns(['organization_id', 'service_id', 'id']).doUpdateSet(changed))
    .execute();
}

export async function deleteSavedQuery(tx: Db, { organizationId, serviceId }: QueryOwner, id: string): Promise<void> {
  await tx
    .deleteFrom('saved_queries')
    .where('organization_id', '=', organizationId)
    .where('service_id', '=', serviceId)
    .where('id', '=', id)
    .execute();
}
