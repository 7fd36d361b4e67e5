import { type Page, toSortName } from '../../kernel/page.ts';
import { type ListQuery, listPage } from '../../platform/state/keyset.ts';
import { prepared } from '../../platform/state/prepared.ts';
import { preparedRows } from '../../platform/state/prepared-rows.ts';
import { open, type SealedTable, seal } from '../../platform/state/secrets/sealed-columns.ts';
import type { Db, Tables } from '../../platform/state/tables.ts';
import { DRIVERS, type DriverName } from './driver.ts';
import { claimResources, findResource, releaseResources } from './owner-store.ts';
import type { Service } from './service.ts';
import { deleteTags, insertTags, replaceTags } from './tag-store.ts';

/** The document has the desired state. What the driver reported is in another column. */
const SERVICE_COLUMNS = ['id', 'organization_id', 'document', 'observed', 'generation', 'settled_generation'] as const;
type StoredService = Pick<Tables['services'], (typeof SERVICE_COLUMNS)[number]>;

/** Adds to the parsed document: copying it with a spread takes five times as long, and each copy is slower to read. */
export const toService = (db: Db, row: StoredService, table: ServiceTable = 'services'): Service =>
  Object.assign(JSON.parse(open(db, table, row, row.document)), {
    observed: JSON.parse(row.observed),
    generation: row.generation,
    settledGeneration: row.settled_generation,
  });

type ServiceTable = Extract<SealedTable, 'services' | 'service_removals'>;

export function toDocument(tx: Db, service: Readonly<Service>, table: ServiceTable = 'services'): string {
  const { observed: _, generation: __, settledGeneration: ___, ...document } = service;
  const key = { organization_id: service.organizationId, id: service.id };
  return seal(tx, table, key, JSON.stringify(document));
}

const selectOne = prepared((db: Db, value: { organizationId: string; id: string }) =>
  db
    .selectFrom('services')
    .select(SERVICE_COLUMNS)
    .where('organization_id', '=', value.organizationId)
    .where('id', '=', value.id),
);

export async function findService(db: Db, organizationId: string, id: string): Promise<Readonly<Service> | undefined> {
  const row = await selectOne.first(db, { organizationId, id });
  return row && toService(db, row);
}

/** A page of the list, restricted to some services if `ids` is set. */
export const listServicePage = (db: Db, organizationId: string, query: ListQuery): Promise<Page<Service>> =>
  listPage(db, { ...SERVICE_LIST, toItem: (row) => toService(db, row) }, organizationId, query);

const SERVICE_LIST = { table: 'services', columns: SERVICE_COLUMNS } as const;

export async function listServices(db: Db, organizationId: string): Promise<Service[]> {
  const rows = await db
    .selectFrom('services')
    .select(SERVICE_COLUMNS)
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map((row) => toService(db, row));
}

/** The services with these ids; ids that do not exist in the organization are ignored. */
export async function listServicesById(db: Db, organizationId: string, ids: readonly string[]): Promise<Service[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('services')
    .select(SERVICE_COLUMNS)
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute();
  return rows.map((row) => toService(db, row));
}

/** The ids that exist in the organization. */
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

/** A change of a service is a new generation. The caller has locked the service. */
export const toNextGeneration = ({ driver, generation }: Readonly<Service>): number =>
  // Constant for other services: it is in the condition of an index, and PostgreSQL would have to update the index.
  DRIVERS[driver].isReconciled ? generation + 1 : generation;

export async function updateService(tx: Db, before: Readonly<Service>, service: Readonly<Service>): Promise<void> {
  await tx
    .updateTable('services')
    .set({
      created_at: service.createdAt,
      document: toDocument(tx, service),
      observed: JSON.stringify(service.observed),
      sort_name: toSortName(service.name),
      driver: service.driver,
      generation: toNextGeneration(service),
      data_warehouse_id: service.dataWarehouseId,
    })
    .where('organization_id', '=', service.organizationId)
    .where('id', '=', service.id)
    .execute();
  await replaceTags(tx, before, service);
  const resource = findResource(service);
  if (resource !== undefined && resource !== findResource(before)) await claimResources(tx, [service]);
}

const INSERTED_COLUMNS = [
  'id',
  'organization_id',
  'created_at',
  'document',
  'observed',
  'sort_name',
  'driver',
  'generation',
  'settled_generation',
  'data_warehouse_id',
] as const;

const insertRows = preparedRows<Tables['services']>(INSERTED_COLUMNS, (db, rows) =>
  db.insertInto('services').values(rows),
);

export async function insertServices(tx: Db, services: readonly Service[]): Promise<void> {
  await insertRows(
    tx,
    services.map((service) => ({
      id: service.id,
      organization_id: service.organizationId,
      created_at: service.createdAt,
      document: toDocument(tx, service),
      observed: JSON.stringify(service.observed),
      sort_name: toSortName(service.name),
      driver: service.driver,
      generation: 1,
      settled_generation: DRIVERS[service.driver].isReconciled ? 0 : 1,
      data_warehouse_id: service.dataWarehouseId,
    })),
  );
  await insertTags(tx, services);
  await claimResources(tx, services);
}

/** The driver removes the service later; until then, no other service gets its resource. */
export async function deleteService(tx: Db, service: Readonly<Service>, now: number): Promise<void> {
  const { organizationId, id, driver, observed } = service;
  await tx.deleteFrom('services').where('organization_id', '=', organizationId).where('id', '=', id).execute();
  await deleteTags(tx, service);
  for (const table of ['sql_history', 'sql_intents', 'saved_queries'] as const)
    await tx.deleteFrom(table).where('organization_id', '=', organizationId).where('service_id', '=', id).execute();
  if (!DRIVERS[driver].isReconciled) return;
  const removal = { organization_id: organizationId, id, driver, removed_at: now };
  await tx
    .insertInto('service_removals')
    .values({ ...removal, document: toDocument(tx, service, 'service_removals'), observed: JSON.stringify(observed) })
    .execute();
}

/** A service that a driver runs. */
export interface DrivenId {
  organizationId: string;
  id: string;
  driver: DriverName;
  generation: number;
}

const selectDriven = (db: Db) =>
  db
    .selectFrom('services')
    .select(['organization_id as organizationId', 'id', 'driver', 'generation'])
    .where('driver', '<>', 'simulated')
    .$narrowType<{ driver: DriverName }>();

/** The services of all organizations that are not simulated. */
export const listDriven = (db: Db): Promise<DrivenId[]> => selectDriven(db).execute();

/** Services that have not converged. */
export const listUnsettled = (db: Db): Promise<DrivenId[]> =>
  selectDriven(db)
    .where((is) => is('generation', '<>', is.ref('settled_generation')))
    .execute();

/** Stores what the driver reported, and the generation that it has reached. */
export async function updateObserved(
  tx: Db,
  { organizationId, id, observed }: Pick<Service, 'organizationId' | 'id' | 'observed'>,
  settledGeneration: number | undefined,
): Promise<void> {
  await tx
    .updateTable('services')
    .set({
      observed: JSON.stringify(observed),
      ...(settledGeneration === undefined ? undefined : { settled_generation: settledGeneration }),
    })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute();
}

export const listRemovals = async (db: Db): Promise<Service[]> =>
  (await db.selectFrom('service_removals').selectAll().execute()).map((row) =>
    toService(db, { ...row, generation: 0, settled_generation: 0 }, 'service_removals'),
  );

export async function deleteRemoval(tx: Db, service: Service): Promise<void> {
  const { organizationId, id } = service;
  await releaseResources(tx, service);
  await tx.deleteFrom('service_removals').where('organization_id', '=', organizationId).where('id', '=', id).execute();
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

/** The services of warehouses, oldest first. */
export async function listWarehouses(db: Db, organizationId: string, ids: readonly string[]): Promise<Service[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('services')
    .select(SERVICE_COLUMNS)
    .where('organization_id', '=', organizationId)
    .where('data_warehouse_id', 'in', ids)
    .execute();
  // Not sorted by the store, which would read all services in the order of another index.
  return rows.map((row) => toService(db, row)).sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}
