import type { Actor } from '../../management/audit/activity.ts';
import type { Db } from '../../platform/state/tables.ts';

/** A statement that may write and has not ended. */
interface Intent {
  organizationId: string;
  id: string;
  serviceId: string;
  directoryId: string;
  startedAt: number;
  actor: Actor;
  queryId: string;
  /** As the audit log shows it. */
  statement: string;
}

export async function insertIntent(tx: Db, intent: Intent): Promise<void> {
  const { organizationId, id, serviceId, directoryId, startedAt, ...document } = intent;
  await tx
    .insertInto('sql_intents')
    .values({
      organization_id: organizationId,
      id,
      service_id: serviceId,
      directory_id: directoryId,
      started_at: startedAt,
      document: JSON.stringify(document),
    })
    .execute();
}

export async function deleteIntents(tx: Db, organizationId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.deleteFrom('sql_intents').where('organization_id', '=', organizationId).where('id', 'in', ids).execute();
}

/** Of every organization, oldest first: those that the server with this data directory has sent. */
export async function listIntents(db: Db, directoryId: string, limit: number): Promise<Intent[]> {
  const rows = await db
    .selectFrom('sql_intents')
    .selectAll()
    .where('directory_id', '=', directoryId)
    .orderBy('started_at')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    ...JSON.parse(row.document),
    organizationId: row.organization_id,
    id: row.id,
    serviceId: row.service_id,
    directoryId: row.directory_id,
    startedAt: row.started_at,
  }));
}
