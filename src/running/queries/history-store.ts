import { open, seal } from '../../platform/state/secrets/sealed-columns.ts';
import type { Db } from '../../platform/state/tables.ts';

/** A statement that was run. */
export interface HistoryEntry {
  /** Ordered by time. */
  id: string;
  startedAt: number;
  sql: string;
  database: string;
  access: 'read' | 'write';
  durationMs: number;
  rowsRead: number | null;
  bytesRead: number | null;
  error: string | null;
}

/** Whose statements, on which service. */
interface HistoryOwner {
  organizationId: string;
  serviceId: string;
  credentialId: string;
}

/** Newest first. */
export async function listHistory(db: Db, owner: HistoryOwner, limit: number): Promise<HistoryEntry[]> {
  const rows = await db
    .selectFrom('sql_history')
    .selectAll()
    .where('organization_id', '=', owner.organizationId)
    .where('service_id', '=', owner.serviceId)
    .where('credential_id', '=', owner.credentialId)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    ...JSON.parse(open(db, 'sql_history', row, row.document)),
    id: row.id,
    startedAt: row.started_at,
  }));
}

export async function insertHistory(
  tx: Db,
  entries: readonly { owner: HistoryOwner; entry: HistoryEntry }[],
): Promise<void> {
  const rows = entries.map(({ owner, entry: { id, startedAt, ...rest } }) => {
    const key = {
      organization_id: owner.organizationId,
      service_id: owner.serviceId,
      credential_id: owner.credentialId,
      id,
    };
    return { ...key, started_at: startedAt, document: seal(tx, 'sql_history', key, JSON.stringify(rest)) };
  });
  await tx.insertInto('sql_history').values(rows).execute();
}

/** Keeps the newest ones. */
export async function trimHistory(tx: Db, owner: HistoryOwner, keep: number): Promise<void> {
  const last = await tx
    .selectFrom('sql_history')
    .select('id')
    .where('organization_id', '=', owner.organizationId)
    .where('service_id', '=', owner.serviceId)
    .where('credential_id', '=', owner.credentialId)
    .orderBy('id', 'desc')
    .offset(keep)
    .limit(1)
    .executeTakeFirst();
  if (!last) return;
  await tx
    .deleteFrom('sql_history')
    .where('organization_id', '=', owner.organizationId)
    .where('service_id', '=', owner.serviceId)
    .where('credential_id', '=', owner.credentialId)
    .where('id', '<=', last.id)
    .execute();
}
