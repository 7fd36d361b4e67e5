import { AppError } from '../kernel/errors.ts';
import { bumpDashboardRevision } from '../organizations/organizations.ts';
import { prepared } from '../state/prepared.ts';
import type { DashboardRow, Db } from '../state/tables.ts';
import type { Dashboard } from './schema.ts';
import { insertVersion, latestVersion } from './version-store.ts';

/** A dashboard as it is kept: documents are stored in the form in which they are shown, so a read needs no parsing. */
export interface StoredDashboard {
  json: string;
  version: number;
  /** The file of the dashboards folder that it is made from, if it is. */
  provisionedFrom: string | undefined;
}

/** Who saves it, and when. */
interface Saving {
  at: number;
  by: string;
  provisionedFrom?: string | undefined;
}

const COLUMNS = ['document', 'version', 'provisioned_from'] as const;

const toStored = (row: Pick<DashboardRow, (typeof COLUMNS)[number]>): StoredDashboard => ({
  json: row.document,
  version: row.version,
  provisionedFrom: row.provisioned_from ?? undefined,
});

const selectDashboard = prepared((db: Db, value: { organizationId: string; id: string }) =>
  db
    .selectFrom('dashboards')
    .select(COLUMNS)
    .where('organization_id', '=', value.organizationId)
    .where('id', '=', value.id),
);

export async function findStored(db: Db, organizationId: string, id: string): Promise<StoredDashboard | undefined> {
  const row = await selectDashboard.first(db, { organizationId, id });
  return row && toStored(row);
}

export async function listStored(db: Db, organizationId: string): Promise<StoredDashboard[]> {
  const rows = await db
    .selectFrom('dashboards')
    .select(COLUMNS)
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .execute();
  return rows.map(toStored);
}

async function listDashboards(db: Db, organizationId: string): Promise<Dashboard[]> {
  return (await listStored(db, organizationId)).map(({ json }) => JSON.parse(json));
}

interface ProvisionedDashboard extends StoredDashboard {
  organizationId: string;
  id: string;
}

/** Those that come from files, of every organization: the folder is one for all of them. */
export async function listProvisioned(db: Db): Promise<ProvisionedDashboard[]> {
  const rows = await db
    .selectFrom('dashboards')
    .select(['organization_id', 'id', ...COLUMNS])
    .where('provisioned_from', 'is not', null)
    .execute();
  return rows.map((row) => ({ organizationId: row.organization_id, id: row.id, ...toStored(row) }));
}

/** Saves it as a new version, and answers which. One that comes from a file is changed by that file only. */
export async function putDashboard(
  tx: Db,
  organizationId: string,
  dashboard: Dashboard,
  { at, by, provisionedFrom }: Saving,
): Promise<number> {
  const { id, name } = dashboard;
  if (provisionedFrom === undefined) refuseProvisioned(await findStored(tx, organizationId, id));
  const document = JSON.stringify(dashboard);
  const version = (await latestVersion(tx, organizationId, id)) + 1;
  const row = { name, document, updated_at: at, version, provisioned_from: provisionedFrom ?? null };
  await tx
    .insertInto('dashboards')
    .values({ organization_id: organizationId, id, created_at: at, ...row })
    .onConflict((conflict) => conflict.columns(['organization_id', 'id']).doUpdateSet(row))
    .execute();
  await insertVersion(tx, {
    organization_id: organizationId,
    dashboard_id: id,
    version,
    saved_at: at,
    saved_by: by,
    provisioned_from: provisionedFrom ?? null,
    name,
    tile_count: dashboard.tiles.length,
    document,
  });
  await bumpDashboardRevision(tx, organizationId);
  return version;
}

/** The same dashboard, from another file than before, or from none any more. */
export async function moveProvisioned(tx: Db, organizationId: string, id: string, file: string | null): Promise<void> {
  await tx
    .updateTable('dashboards')
    .set({ provisioned_from: file })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute();
  await bumpDashboardRevision(tx, organizationId);
}

/** Its versions stay. */
export async function deleteDashboard(tx: Db, organizationId: string, id: string): Promise<void> {
  refuseProvisioned(await findStored(tx, organizationId, id));
  await removeDashboard(tx, organizationId, id);
}

/** As `deleteDashboard`, also one that comes from a file: for when the file went away. */
export async function removeDashboard(tx: Db, organizationId: string, id: string): Promise<void> {
  await tx.deleteFrom('dashboards').where('organization_id', '=', organizationId).where('id', '=', id).execute();
  await bumpDashboardRevision(tx, organizationId);
}

export function refuseProvisioned(stored: StoredDashboard | undefined): void {
  if (stored?.provisionedFrom !== undefined)
    throw new AppError(
      'conflict',
      `The dashboard comes from the file ${stored.provisionedFrom} of the dashboards folder; change it there`,
    );
}

/** The first dashboard in list order with a series that reads from the source. */
export async function findDashboardReading(
  db: Db,
  organizationId: string,
  sourceId: string,
): Promise<Pick<Dashboard, 'id' | 'name'> | undefined> {
  const all = await listDashboards(db, organizationId);
  return all.find(({ tiles }) => tiles.some(({ series }) => series.some((one) => one.sourceId === sourceId)));
}
