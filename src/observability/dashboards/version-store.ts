import type { DashboardVersionRow, Db } from '../../platform/state/tables.ts';

/** A saved version of a dashboard, without the document. */
export interface Version {
  version: number;
  savedAt: number;
  savedBy: string;
  name: string;
  tileCount: number;
  provisionedFrom: string | undefined;
}

const COLUMNS = ['version', 'saved_at', 'saved_by', 'name', 'tile_count', 'provisioned_from'] as const;

const toVersion = (row: Pick<DashboardVersionRow, (typeof COLUMNS)[number]>): Version => ({
  version: row.version,
  savedAt: row.saved_at,
  savedBy: row.saved_by,
  name: row.name,
  tileCount: row.tile_count,
  provisionedFrom: row.provisioned_from ?? undefined,
});

/** Newest first. Includes versions of deleted dashboards. */
export async function listVersions(db: Db, organizationId: string, dashboardId: string): Promise<Version[]> {
  const rows = await db
    .selectFrom('dashboard_versions')
    .select(COLUMNS)
    .where('organization_id', '=', organizationId)
    .where('dashboard_id', '=', dashboardId)
    .orderBy('version', 'desc')
    .execute();
  return rows.map(toVersion);
}

export async function findVersion(
  db: Db,
  organizationId: string,
  dashboardId: string,
  version: number,
): Promise<(Version & { json: string }) | undefined> {
  const row = await db
    .selectFrom('dashboard_versions')
    .select([...COLUMNS, 'document'])
    .where('organization_id', '=', organizationId)
    .where('dashboard_id', '=', dashboardId)
    .where('version', '=', version)
    .executeTakeFirst();
  return row && { ...toVersion(row), json: row.document };
}

/** 0 if there is none. */
export async function latestVersion(db: Db, organizationId: string, dashboardId: string): Promise<number> {
  const row = await db
    .selectFrom('dashboard_versions')
    .select('version')
    .where('organization_id', '=', organizationId)
    .where('dashboard_id', '=', dashboardId)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.version ?? 0;
}

export async function insertVersion(tx: Db, row: DashboardVersionRow): Promise<void> {
  await tx.insertInto('dashboard_versions').values(row).execute();
}

/** Per dashboard. Older versions are deleted. */
const KEPT_VERSIONS = 500;

export async function deleteOldVersions(
  tx: Db,
  organizationId: string,
  dashboardId: string,
  newest: number,
): Promise<void> {
  if (newest <= KEPT_VERSIONS) return;
  await tx
    .deleteFrom('dashboard_versions')
    .where('organization_id', '=', organizationId)
    .where('dashboard_id', '=', dashboardId)
    .where('version', '<=', newest - KEPT_VERSIONS)
    .execute();
}

/** At most `limit`, the oldest first. Keeps the current version of each dashboard. Returns how many were deleted. */
export async function deleteVersionsSavedBefore(tx: Db, time: number, limit: number): Promise<number> {
  const old = tx
    .selectFrom('dashboard_versions as old')
    .leftJoin('dashboards', (join) =>
      join
        .onRef('dashboards.organization_id', '=', 'old.organization_id')
        .onRef('dashboards.id', '=', 'old.dashboard_id')
        .onRef('dashboards.version', '=', 'old.version'),
    )
    .select(['old.organization_id', 'old.dashboard_id', 'old.version'])
    .where('old.saved_at', '<', time)
    .where('dashboards.id', 'is', null)
    .orderBy('old.saved_at')
    .limit(limit);
  const { numDeletedRows } = await tx
    .deleteFrom('dashboard_versions')
    .where(({ eb, refTuple }) => eb(refTuple('organization_id', 'dashboard_id', 'version'), 'in', old as never))
    .executeTakeFirst();
  return Number(numDeletedRows);
}
