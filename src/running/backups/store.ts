import type { ServiceBackupRow } from '../../platform/state/tables/backup-tables.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Backup, PendingWork } from './backup.ts';

const toBackup = (row: ServiceBackupRow): Backup => ({
  ...JSON.parse(row.document),
  organizationId: row.organization_id,
  id: row.id,
  serviceId: row.service_id,
  chainId: row.chain_id,
  directoryId: row.directory_id,
  status: row.status as Backup['status'],
  pending: (row.pending ?? undefined) as PendingWork | undefined,
  startedAt: row.started_at,
  expireAt: row.expire_at ?? undefined,
  sizeBytes: row.size_bytes === 0 ? undefined : row.size_bytes,
});

function toRow(backup: Backup): ServiceBackupRow {
  const { organizationId, id, serviceId, chainId, directoryId, status, pending, startedAt, expireAt, ...rest } = backup;
  const { sizeBytes = 0, ...document } = rest;
  return {
    organization_id: organizationId,
    id,
    service_id: serviceId,
    chain_id: chainId,
    directory_id: directoryId,
    status,
    pending: pending ?? null,
    started_at: startedAt,
    expire_at: expireAt ?? null,
    size_bytes: sizeBytes,
    document: JSON.stringify(document),
  };
}

/** All backups of a service, newest first. */
export async function listBackups(db: Db, organizationId: string, serviceId: string): Promise<Backup[]> {
  const rows = await db
    .selectFrom('service_backups')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('service_id', '=', serviceId)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(toBackup);
}

export async function findBackup(db: Db, organizationId: string, id: string): Promise<Backup | undefined> {
  const row = await db
    .selectFrom('service_backups')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toBackup(row);
}

/** Backups of all organizations that a node has to work on. */
export async function listPending(db: Db, directoryId: string): Promise<Backup[]> {
  const rows = await db
    .selectFrom('service_backups')
    .selectAll()
    .where('directory_id', '=', directoryId)
    .where('pending', 'is not', null)
    .orderBy('started_at')
    .execute();
  return rows.map(toBackup);
}

/** The services of all organizations with backups on a node. */
export const listBackedUpServices = async (
  db: Db,
  directoryId: string,
): Promise<{ organizationId: string; serviceId: string }[]> =>
  db
    .selectFrom('service_backups')
    .select(['organization_id as organizationId', 'service_id as serviceId'])
    .distinct()
    .where('directory_id', '=', directoryId)
    .execute();

/** The size of all backups of each service on a node. */
export async function listBackupSizes(db: Db, directoryId: string): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('service_backups')
    .select(({ fn }) => ['service_id', fn.sum<number | string>('size_bytes').as('bytes')])
    .where('directory_id', '=', directoryId)
    .where('status', '=', 'done')
    .groupBy('service_id')
    .execute();
  return new Map(rows.map(({ service_id, bytes }) => [service_id, Number(bytes)]));
}

/** The newest backup of each service of an organization, of those with one of the states. */
export async function listNewestBackups(
  db: Db,
  organizationId: string,
  states: readonly Backup['status'][],
): Promise<Backup[]> {
  const rows = await db
    .selectFrom('service_backups')
    .innerJoin(
      (from) =>
        from
          .selectFrom('service_backups')
          .select(({ fn }) => ['service_id', fn.max('started_at').as('newest_at')])
          .where('organization_id', '=', organizationId)
          .where('status', 'in', states)
          .groupBy('service_id')
          .as('newest'),
      (join) =>
        join
          .onRef('newest.service_id', '=', 'service_backups.service_id')
          .onRef('newest.newest_at', '=', 'service_backups.started_at'),
    )
    .selectAll('service_backups')
    .where('service_backups.organization_id', '=', organizationId)
    .where('service_backups.status', 'in', states)
    .execute();
  return rows.map(toBackup);
}

export async function insertBackup(tx: Db, backup: Backup): Promise<void> {
  await tx.insertInto('service_backups').values(toRow(backup)).execute();
}

export async function updateBackup(tx: Db, backup: Backup): Promise<void> {
  await tx
    .updateTable('service_backups')
    .set(toRow(backup))
    .where('organization_id', '=', backup.organizationId)
    .where('id', '=', backup.id)
    .execute();
}

export async function deleteBackup(tx: Db, { organizationId, id }: Backup): Promise<void> {
  await tx.deleteFrom('service_backups').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}
