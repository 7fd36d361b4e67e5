import { toSortName } from '../../kernel/page.ts';
import type { ServiceTagRow } from './tables.ts';

interface TaggedService {
  id: string;
  organizationId: string;
  name: string;
  createdAt: number;
  dataWarehouseId: string;
  isPrimary: boolean;
  details: { tags?: readonly { key: string; value?: string }[] };
}

/** Two rows for each tag: a filter names its key, or its key and value. Keys contain no `=`; an omitted value is empty. */
export function listTagRows(service: Readonly<TaggedService>): ServiceTagRow[] {
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
