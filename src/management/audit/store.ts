import type { ChainedColumns } from '../../platform/state/activity-chain.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Activity } from './activity.ts';
import type { Alternatives, FilterColumns } from './filter.ts';

export const toActivity = ({ document }: { document: string }): Activity => JSON.parse(document);

export const toRow = (activity: Activity): ChainedColumns => {
  const { organizationId, id, createdAt, type, actor, resource } = activity;
  return {
    organization_id: organizationId,
    id,
    created_at: createdAt,
    document: JSON.stringify(activity),
    type,
    actor_id: actor.id,
    // As the stores read it back: the hash covers the column.
    actor_name: actor.details.toWellFormed(),
    resource_id: resource.id,
  };
};

/** A range of the audit log. Ids are ordered by time, so `fromId` and `beforeId` limit the rows that are read. */
export interface ActivityRange {
  fromMs: number | undefined;
  toMs: number | undefined;
  fromId: string | undefined;
  /** Exclusive. */
  beforeId: string | undefined;
}

export type ActivityCandidate = FilterColumns & { id: string; document: string };

/** At most `limit` activities that match the condition, newest first. Each query reads one range of one index. */
export async function listCandidates(
  db: Db,
  organizationId: string,
  condition: Alternatives | undefined,
  range: ActivityRange,
  limit: number,
): Promise<ActivityCandidate[]> {
  const select = selectRange(db, organizationId, range).limit(limit);
  if (!condition) return select.execute();
  const queries = condition.map((columns) => select.where((eb) => eb.and(columns)));
  const lists = await Promise.all(queries.map((query) => query.execute()));
  return lists.length === 1 && lists[0] ? lists[0] : mergeNewest(lists, limit);
}

function selectRange(db: Db, organizationId: string, { fromMs, toMs, fromId, beforeId }: ActivityRange) {
  let query = db
    .selectFrom('activities')
    .select(['id', 'document', 'type', 'actor_id', 'actor_name', 'resource_id'])
    .where('organization_id', '=', organizationId);
  if (fromId !== undefined) query = query.where('id', '>=', fromId);
  if (beforeId !== undefined) query = query.where('id', '<', beforeId);
  if (fromMs !== undefined) query = query.where('created_at', '>=', fromMs);
  if (toMs !== undefined) query = query.where('created_at', '<', toMs);
  return query.orderBy('id', 'desc');
}

function mergeNewest(lists: readonly ActivityCandidate[][], limit: number): ActivityCandidate[] {
  const byId = new Map(lists.flat().map((row) => [row.id, row]));
  return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
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
