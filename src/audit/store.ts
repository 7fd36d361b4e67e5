import type { MaybePromise } from '../kernel/maybe-promise.ts';
import { prepared } from '../state/prepared.ts';
import type { ActivityRow, Db } from '../state/tables.ts';
import type { Activity } from './activity.ts';
import type { Alternatives, FilterColumns } from './filter.ts';

export const toActivity = ({ document }: { document: string }): Activity => JSON.parse(document);

const insert = prepared((db: Db, value: ActivityRow) =>
  db.insertInto('activities').values({
    organization_id: value.organization_id,
    id: value.id,
    created_at: value.created_at,
    document: value.document,
    type: value.type,
    actor_id: value.actor_id,
    actor_name: value.actor_name,
    resource_id: value.resource_id,
  }),
);

export function insertActivity(tx: Db, activity: Activity): MaybePromise<unknown> {
  const { organizationId, id, createdAt, type, actor, resource } = activity;
  return insert.first(tx, {
    organization_id: organizationId,
    id,
    created_at: createdAt,
    document: JSON.stringify(activity),
    type,
    actor_id: actor.id,
    actor_name: actor.details,
    resource_id: resource.id,
  });
}

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
  const columns = Object.entries(condition) as [keyof FilterColumns, readonly string[]][];
  const queries = columns.flatMap(([column, values]) => values.map((value) => select.where(column, '=', value)));
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
