import { AppError } from '../../kernel/errors.ts';
import {
  bumpDashboardRevision,
  findDashboardCount,
  setDashboardCount,
} from '../../management/organizations/organizations.ts';
import { prepared } from '../../platform/state/prepared.ts';
import type { DashboardRow, Db } from '../../platform/state/tables.ts';
import { forgetDeletion, recordDeletion } from './deletion-store.ts';
import type { Dashboard } from './schema.ts';
import { deleteOldVersions, insertVersion, latestVersion } from './version-store.ts';

/** Documents are stored as the JSON that the API returns, so that a read needs no parsing. */
export interface StoredDashboard {
  json: string;
  version: number;
  /** The file of the dashboards folder that defines the dashboard. */
  provisionedFrom: string | undefined;
}

/** The document of a new version and its metadata. */
interface DashboardVersionInput {
  json: string;
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

/** Not with `first`: on PostgreSQL, it may read many rows with one statement, and these can be large. */
export async function findStored(db: Db, organizationId: string, id: string): Promise<StoredDashboard | undefined> {
  const [row] = await selectDashboard.all(db, { organizationId, id });
  return row && toStored(row);
}

/** A dashboard without its document. */
interface DashboardOutline {
  provisionedFrom: string | undefined;
  bytes: number;
}

async function findOutline(db: Db, organizationId: string, id: string): Promise<DashboardOutline | undefined> {
  const row = await db
    .selectFrom('dashboards')
    .select((eb) => ['provisioned_from', eb.fn<number>('octet_length', ['document']).as('bytes')])
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && { provisionedFrom: row.provisioned_from ?? undefined, bytes: row.bytes };
}

interface ListedDashboard extends StoredDashboard {
  id: string;
  name: string;
}

export async function listStored(db: Db, organizationId: string): Promise<ListedDashboard[]> {
  const rows = await db
    .selectFrom('dashboards')
    .select(['id', 'name', ...COLUMNS])
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ id: row.id, name: row.name, ...toStored(row) }));
}

/** The number and the size of all dashboards. */
export async function measureDashboards(tx: Db, organizationId: string): Promise<{ count: number; bytes: number }> {
  const known = await findDashboardCount(tx, organizationId);
  if (known) return known;
  const row = await tx
    .selectFrom('dashboards')
    .select((eb) => [
      eb.fn.countAll<number>().as('count'),
      eb.fn.sum<number>(eb.fn<number>('octet_length', ['document'])).as('bytes'),
    ])
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  const counted = { count: Number(row.count), bytes: Number(row.bytes ?? 0) };
  await setDashboardCount(tx, organizationId, counted);
  return counted;
}

async function listDashboards(db: Db, organizationId: string): Promise<Dashboard[]> {
  return (await listStored(db, organizationId)).map(({ json }) => JSON.parse(json));
}

interface ProvisionedDashboard extends StoredDashboard {
  organizationId: string;
  id: string;
}

/** Of all organizations, because they share one dashboards folder. */
export async function listProvisioned(db: Db): Promise<ProvisionedDashboard[]> {
  const rows = await db
    .selectFrom('dashboards')
    .select(['organization_id', 'id', ...COLUMNS])
    .where('provisioned_from', 'is not', null)
    .execute();
  return rows.map((row) => ({ organizationId: row.organization_id, id: row.id, ...toStored(row) }));
}

/** Saves a new version and returns its number. Only its file may change a provisioned dashboard. */
export async function putDashboard(
  tx: Db,
  organizationId: string,
  dashboard: Dashboard,
  { json: document, at, by, provisionedFrom }: DashboardVersionInput,
): Promise<number> {
  const { id, name } = dashboard;
  const before = await findOutline(tx, organizationId, id);
  if (provisionedFrom === undefined) rejectProvisioned(before);
  const version = (await latestVersion(tx, organizationId, id)) + 1;
  if (!before && version > 1) await forgetDeletion(tx, organizationId, id);
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
  await deleteOldVersions(tx, organizationId, id, version);
  await bumpDashboardRevision(tx, organizationId, {
    count: before ? 0 : 1,
    bytes: Buffer.byteLength(document) - (before?.bytes ?? 0),
  });
  return version;
}

/** Sets the file that defines the dashboard. Null makes it editable. */
export async function setProvisionedFrom(
  tx: Db,
  organizationId: string,
  id: string,
  file: string | null,
): Promise<void> {
  await tx
    .updateTable('dashboards')
    .set({ provisioned_from: file })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute();
  await bumpDashboardRevision(tx, organizationId);
}

/** Keeps the versions. */
export async function deleteDashboard(tx: Db, organizationId: string, id: string, now: number): Promise<void> {
  rejectProvisioned(await findOutline(tx, organizationId, id));
  await removeDashboard(tx, organizationId, id, now);
}

/** Also deletes a provisioned dashboard, for when its file is removed. */
export async function removeDashboard(tx: Db, organizationId: string, id: string, now: number): Promise<void> {
  const before = await findOutline(tx, organizationId, id);
  if (!before) return;
  await tx.deleteFrom('dashboards').where('organization_id', '=', organizationId).where('id', '=', id).execute();
  await recordDeletion(tx, organizationId, id, now);
  await bumpDashboardRevision(tx, organizationId, { count: -1, bytes: -before.bytes });
}

export function rejectProvisioned(stored: Pick<StoredDashboard, 'provisionedFrom'> | undefined): void {
  if (stored?.provisionedFrom !== undefined)
    throw new AppError(
      'conflict',
      `The dashboard is defined by the file ${stored.provisionedFrom} in the dashboards folder; change it there`,
    );
}

/** The first dashboard with a series that reads the source. */
export async function findDashboardUsingSource(
  db: Db,
  organizationId: string,
  sourceId: string,
): Promise<Pick<Dashboard, 'id' | 'name'> | undefined> {
  const all = await listDashboards(db, organizationId);
  return all.find(({ tiles }) => tiles.some(({ series }) => series.some((one) => one.sourceId === sourceId)));
}
