import type { MaybePromise } from '../kernel/maybe-promise.ts';
import { prepared } from '../state/prepared.ts';
import type { ActivityRow, Db } from '../state/tables.ts';
import type { Activity } from './activity.ts';

const toActivity = ({ document }: { document: string }): Activity => JSON.parse(document);

const insert = prepared((db: Db, value: ActivityRow) =>
  db.insertInto('activities').values({
    organization_id: value.organization_id,
    id: value.id,
    created_at: value.created_at,
    document: value.document,
  }),
);

export function insertActivity(tx: Db, activity: Activity): MaybePromise<unknown> {
  const { organizationId, id, createdAt } = activity;
  return insert.first(tx, {
    organization_id: organizationId,
    id,
    created_at: createdAt,
    document: JSON.stringify(activity),
  });
}

export interface ActivityFilter {
  fromMs?: number;
  toMs?: number;
  before?: string;
  limit: number;
}

/** Newest first. Ids are ordered by time, so `before` continues where the last page ended. */
export async function listActivities(
  db: Db,
  organizationId: string,
  { fromMs, toMs, before, limit }: ActivityFilter,
): Promise<Activity[]> {
  let query = db.selectFrom('activities').select('document').where('organization_id', '=', organizationId);
  if (fromMs !== undefined) query = query.where('created_at', '>=', fromMs);
  if (toMs !== undefined) query = query.where('created_at', '<', toMs);
  if (before !== undefined) query = query.where('id', '<', before);
  const rows = await query.orderBy('id', 'desc').limit(limit).execute();
  return rows.map(toActivity);
}

export async function findActivity(db: Db, organizationId: string, id: string): Promise<Activity | undefined> {
  const row = await db
    .selectFrom('activities')
    .select('document')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toActivity(row);
}
