import { createCredentialStore } from '../../platform/credentials/store.ts';
import type { DashboardLinkRow, Db } from '../../platform/state/tables.ts';
import type { Link } from './link.ts';

const COLUMNS = [
  'id',
  'organization_id',
  'dashboard_id',
  'name',
  'secret_hash',
  'secret_suffix',
  'created_at',
  'created_by',
  'expire_at',
  'used_at',
] as const;

const toLink = (row: DashboardLinkRow): Link => ({
  id: row.id,
  organizationId: row.organization_id,
  dashboardId: row.dashboard_id,
  name: row.name,
  secretHash: row.secret_hash,
  secretSuffix: row.secret_suffix,
  createdAt: row.created_at,
  createdBy: row.created_by,
  expireAt: row.expire_at,
  usedAt: row.used_at ?? undefined,
});

export const {
  findByHash: findLinkByHash,
  find: findLink,
  list: listLinks,
  remove: deleteLink,
} = createCredentialStore({
  table: 'dashboard_links',
  hashColumn: 'secret_hash',
  columns: COLUMNS,
  toCredential: toLink,
});

export async function insertLink(tx: Db, link: Link): Promise<void> {
  await tx
    .insertInto('dashboard_links')
    .values({
      id: link.id,
      organization_id: link.organizationId,
      dashboard_id: link.dashboardId,
      name: link.name,
      secret_hash: link.secretHash,
      secret_suffix: link.secretSuffix,
      created_at: link.createdAt,
      created_by: link.createdBy,
      expire_at: link.expireAt,
      used_at: null,
    })
    .execute();
}

export async function countLinks(db: Db, organizationId: string): Promise<number> {
  const row = await db
    .selectFrom('dashboard_links')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

export async function deleteExpiredLinks(tx: Db, organizationId: string, before: number): Promise<void> {
  await tx
    .deleteFrom('dashboard_links')
    .where('organization_id', '=', organizationId)
    .where('expire_at', '<', before)
    .execute();
}
