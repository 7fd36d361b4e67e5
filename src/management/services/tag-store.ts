import { type Page, toSortName } from '../../kernel/page.ts';
import { type ListQuery, listPage } from '../../platform/state/keyset.ts';
import { preparedRows } from '../../platform/state/prepared-rows.ts';
import type { Db, ServiceTagRow } from '../../platform/state/tables.ts';
import type { Service } from './service.ts';

const insertRows = preparedRows<ServiceTagRow>(
  ['organization_id', 'id', 'tag', 'created_at', 'sort_name', 'warehouse_id'],
  (db, rows) => db.insertInto('service_tags').values(rows),
);

/** Two rows for each tag: a filter names its key, or its key and value. Keys contain no `=`; an omitted value is empty. */
function listTagRows(service: Readonly<Service>): ServiceTagRow[] {
  const tags = service.details.tags?.flatMap(({ key, value = '' }) => [key, `${key}=${value}`]);
  return [...new Set(tags)].map((tag) => ({
    organization_id: service.organizationId,
    id: service.id,
    tag,
    created_at: service.createdAt,
    sort_name: toSortName(service.name),
    warehouse_id: service.isPrimary ? service.dataWarehouseId : null,
  }));
}

export const insertTags = (tx: Db, services: readonly Readonly<Service>[]): Promise<void> =>
  insertRows(tx, services.flatMap(listTagRows));

/** Most changes of a service concern none of its rows. */
export async function replaceTags(tx: Db, before: Readonly<Service>, after: Readonly<Service>): Promise<void> {
  if (JSON.stringify(listTagRows(before)) === JSON.stringify(listTagRows(after))) return;
  await deleteTags(tx, before);
  await insertTags(tx, [after]);
}

export async function deleteTags(tx: Db, { organizationId, id, details }: Readonly<Service>): Promise<void> {
  if (!details.tags?.length) return;
  await tx.deleteFrom('service_tags').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}

interface TaggedService {
  id: string;
  /** If it is the first service of its warehouse. */
  warehouseId: string | undefined;
}

/** Reads the index of tags only. `query` has at least one tag. */
export const listTaggedPage = (db: Db, organizationId: string, query: ListQuery): Promise<Page<TaggedService>> =>
  listPage(db, TAGGED_LIST, organizationId, query);

const TAGGED_LIST = {
  table: 'service_tags',
  columns: ['warehouse_id'],
  toItem: ({ id, warehouse_id }: ServiceTagRow): TaggedService => ({ id, warehouseId: warehouse_id ?? undefined }),
} as const;
