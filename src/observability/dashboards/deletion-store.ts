import type { Db } from '../../platform/state/tables.ts';

/** Per organization: the dashboards that can be restored after they were deleted. */
const KEPT = 100;
/** A deletion makes one too many; there are more if the number that is kept was larger before. */
const MAX_DELETED_AT_ONCE = 100;

/** Deletes the versions of the dashboards whose deletion is too long ago. */
export async function recordDeletion(tx: Db, organizationId: string, dashboardId: string, now: number): Promise<void> {
  await tx
    .insertInto('deleted_dashboards')
    .values({ organization_id: organizationId, dashboard_id: dashboardId, deleted_at: now })
    .onConflict((conflict) => conflict.columns(['organization_id', 'dashboard_id']).doUpdateSet({ deleted_at: now }))
    .execute();
  for (const id of await listExcess(tx, organizationId)) {
    await tx
      .deleteFrom('dashboard_versions')
      .where('organization_id', '=', organizationId)
      .where('dashboard_id', '=', id)
      .execute();
    await forgetDeletion(tx, organizationId, id);
  }
}

export async function listExcess(db: Db, organizationId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('deleted_dashboards')
    .select('dashboard_id')
    .where('organization_id', '=', organizationId)
    .orderBy('deleted_at', 'desc')
    .orderBy('dashboard_id', 'desc')
    .limit(MAX_DELETED_AT_ONCE)
    .offset(KEPT)
    .execute();
  return rows.map(({ dashboard_id }) => dashboard_id);
}

/** For a dashboard that was restored. */
export async function forgetDeletion(tx: Db, organizationId: string, dashboardId: string): Promise<void> {
  await tx
    .deleteFrom('deleted_dashboards')
    .where('organization_id', '=', organizationId)
    .where('dashboard_id', '=', dashboardId)
    .execute();
}
