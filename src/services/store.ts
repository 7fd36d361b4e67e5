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

/** Recently read documents are parsed once. The result is shared: callers must not modify it. */
const parseService = memoize((document): Readonly<Service> => JSON.parse(document));

const selectOne = prepared((db: Db, value: { organizationId: string; id: string }) =>
  db
    .selectFrom('services')
    .select('document')
    .where('organization_id', '=', value.organizationId)
    .where('id', '=', value.id),
);

/** Uses `cached`, so only for authenticated requests. */
export function findService(db: Db, organizationId: string, id: string): MaybePromise<Readonly<Service> | undefined> {
  return mapMaybe(selectOne.cached(db, { organizationId, id }), (row) => row && parseService(row.document));
}

const selectAndLock = prepared((db: Db, value: { organizationId: string; id: string }) =>
  lockRows(
    db,
    db
      .selectFrom('organizations')
      .innerJoin('services', 'services.organization_id', 'organizations.id')
      .select(['organizations.tier', 'organizations.paid', 'services.document'])
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
    (row) =>
      row && { organization: { tier: row.tier as Tier, isPaid: row.paid === 1 }, service: parseService(row.document) },
  );
}

interface LockedService {
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
  columns: ['document'],
  toItem: ({ document }: { document: string }): Service => JSON.parse(document),
} as const;

export async function listServices(db: Db, organizationId: string): Promise<Service[]> {
  const rows = await db
    .selectFrom('services')
    .select('document')
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(({ document }) => JSON.parse(document));
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

/** Does not update `created_at`, so no index changes. */
export function updateScaling(tx: Db, service: Readonly<Service>): MaybePromise<unknown> {
  const { organizationId, id } = service;
  return setDocument.first(tx, { organizationId, id, document: JSON.stringify(service) });
}

export async function updateService(tx: Db, service: Service): Promise<void> {
  await tx
    .updateTable('services')
    .set({ created_at: service.createdAt, document: JSON.stringify(service), sort_name: toSortName(service.name) })
    .where('organization_id', '=', service.organizationId)
    .where('id', '=', service.id)
    .execute();
}

const SERVICE_COLUMNS = ['id', 'organization_id', 'created_at', 'document', 'sort_name'] as const;

const insertRows = preparedRows<Tables['services']>(SERVICE_COLUMNS, (db, rows) =>
  db.insertInto('services').values(rows),
);

export const insertServices = (tx: Db, services: readonly Service[]): Promise<void> =>
  insertRows(
    tx,
    services.map((service) => ({
      id: service.id,
      organization_id: service.organizationId,
      created_at: service.createdAt,
      document: JSON.stringify(service),
      sort_name: toSortName(service.name),
    })),
  );

export async function deleteService(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx.deleteFrom('services').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}
