import { type MaybePromise, mapMaybe } from '../kernel/maybe-promise.ts';
import { memoize } from '../kernel/memo.ts';
import { type Page, toSortName } from '../kernel/page.ts';
import type { Organization, Tier } from '../organizations/organization.ts';
import { type DocumentCondition, type ListQuery, listPage } from '../state/keyset.ts';
import { lockRows } from '../state/locking.ts';
import { prepared } from '../state/prepared.ts';
import { preparedRows } from '../state/prepared-rows.ts';
import type { Db, Tables } from '../state/tables.ts';
import type { Service } from './service.ts';

/** The document has what was asked for; what the driver reported is apart. */
const SERVICE_COLUMNS = ['document', 'observed'] as const;
type StoredService = Record<(typeof SERVICE_COLUMNS)[number], string>;

const toService = ({ document, observed }: StoredService): Service => ({
  ...JSON.parse(document),
  observed: JSON.parse(observed),
});

const toDocument = ({ observed: _, ...document }: Readonly<Service>): string => JSON.stringify(document);

/** JSON has no line feeds. */
const parseJoined = memoize((joined): Readonly<Service> => {
  const end = joined.indexOf('\n');
  return toService({ observed: joined.slice(0, end), document: joined.slice(end + 1) });
});

/** Recently read services are parsed once. The result is shared: callers must not modify it. */
const parseService = ({ document, observed }: StoredService): Readonly<Service> =>
  parseJoined(`${observed}\n${document}`);

const selectOne = prepared((db: Db, value: { organizationId: string; id: string }) =>
  db
    .selectFrom('services')
    .select(SERVICE_COLUMNS)
    .where('organization_id', '=', value.organizationId)
    .where('id', '=', value.id),
);

/** Uses `cached`, so only for authenticated requests. */
export function findService(db: Db, organizationId: string, id: string): MaybePromise<Readonly<Service> | undefined> {
  return mapMaybe(selectOne.cached(db, { organizationId, id }), (row) => row && parseService(row));
}

const selectAndLock = prepared((db: Db, value: { organizationId: string; id: string }) =>
  lockRows(
    db,
    db
      .selectFrom('organizations')
      .innerJoin('services', 'services.organization_id', 'organizations.id')
      .select(['organizations.tier', 'organizations.paid', 'services.document', 'services.observed'])
      .where('organizations.id', '=', value.organizationId)
      .where('services.id', '=', value.id),
  ),
);

/**
 * Locks the rows of the organization and the service until the transaction ends. Both, so that PostgreSQL returns the
 * service as the previous transaction left it, and not as it was when the wait started.
 */
export function lockService(tx: Db, organizationId: string, id: string): MaybePromise<LockedService | undefined> {
  return mapMaybe(
    selectAndLock.first(tx, { organizationId, id }),
    (row) => row && { organization: { tier: row.tier as Tier, isPaid: row.paid === 1 }, service: parseService(row) },
  );
}

export interface LockedService {
  organization: Pick<Organization, 'tier' | 'isPaid'>;
  service: Readonly<Service>;
}

/** A page of the list, restricted to some services if `ids` is set. */
export const listServicePage = (
  db: Db,
  organizationId: string,
  query: ListQuery,
  condition?: DocumentCondition<Service>,
): Promise<Page<Service>> => listPage(db, SERVICE_LIST, organizationId, query, condition);

const SERVICE_LIST = {
  table: 'services',
  columns: SERVICE_COLUMNS,
  toItem: toService,
} as const;

export async function listServices(db: Db, organizationId: string): Promise<Service[]> {
  const rows = await db
    .selectFrom('services')
    .select(SERVICE_COLUMNS)
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toService);
}

/** Those of the ids that exist in the organization. */
export async function listExistingServiceIds(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('services')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute();
  return rows.map(({ id }) => id);
}

const setDocument = prepared((db: Db, value: { organizationId: string; id: string; document: string }) =>
  db
    .updateTable('services')
    .set({ document: value.document })
    .where('organization_id', '=', value.organizationId)
    .where('id', '=', value.id),
);

/** Stores what was asked for. Does not update `created_at`, so no index changes. */
export function updateDocument(tx: Db, service: Readonly<Service>): MaybePromise<unknown> {
  const { organizationId, id } = service;
  return setDocument.first(tx, { organizationId, id, document: toDocument(service) });
}

export async function updateService(tx: Db, service: Service): Promise<void> {
  await tx
    .updateTable('services')
    .set({
      created_at: service.createdAt,
      document: toDocument(service),
      observed: JSON.stringify(service.observed),
      sort_name: toSortName(service.name),
    })
    .where('organization_id', '=', service.organizationId)
    .where('id', '=', service.id)
    .execute();
}

const INSERTED_COLUMNS = ['id', 'organization_id', 'created_at', 'document', 'observed', 'sort_name'] as const;

const insertRows = preparedRows<Tables['services']>(INSERTED_COLUMNS, (db, rows) =>
  db.insertInto('services').values(rows),
);

export const insertServices = (tx: Db, services: readonly Service[]): Promise<void> =>
  insertRows(
    tx,
    services.map((service) => ({
      id: service.id,
      organization_id: service.organizationId,
      created_at: service.createdAt,
      document: toDocument(service),
      observed: JSON.stringify(service.observed),
      sort_name: toSortName(service.name),
    })),
  );

export async function deleteService(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx.deleteFrom('services').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}

/** Whether the organization has at least this many services. Reads at most as many entries of the index. */
export async function hasServices(tx: Db, organizationId: string, count: number): Promise<boolean> {
  const row = await tx
    .selectFrom('services')
    .select('id')
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .offset(count - 1)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The services of a warehouse. Reads all documents of the organization: needed to create and delete only. */
export async function listWarehouse(tx: Db, organizationId: string, dataWarehouseId: string): Promise<Service[]> {
  const rows = await tx
    .selectFrom('services')
    .select(SERVICE_COLUMNS)
    .where('organization_id', '=', organizationId)
    .where('document', 'like', `%${JSON.stringify({ dataWarehouseId }).slice(1, -1)}%`)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toService).filter((service) => service.dataWarehouseId === dataWarehouseId);
}
