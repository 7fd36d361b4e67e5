import { sql } from 'kysely';
import type { ChainedColumns } from '../state/activity-chain.ts';
import type { Db } from '../state/tables.ts';
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

/**
 * The actors with this id or name, as pairs that the index finds. Distinct values are read by skipping through the index:
 * the cost depends on the number of actors, not of activities.
 */
export async function listActors(db: Db, organizationId: string, actor: string): Promise<Alternatives> {
  const [byName, byId] = await Promise.all([
    sql<{ actor_id: string }>`WITH RECURSIVE ids (id) AS (
        SELECT min(actor_id) FROM activities WHERE organization_id = ${organizationId} AND actor_name = ${actor}
        UNION ALL
        SELECT (
          SELECT min(actor_id) FROM activities
          WHERE organization_id = ${organizationId} AND actor_name = ${actor} AND actor_id > ids.id
        ) FROM ids WHERE ids.id IS NOT NULL
      )
      SELECT id AS actor_id FROM ids WHERE id IS NOT NULL`.execute(db),
    sql<{ actor_name: string }>`WITH RECURSIVE names (name) AS (
        SELECT min(actor_name) FROM activities WHERE organization_id = ${organizationId}
        UNION ALL
        SELECT (
          SELECT min(actor_name) FROM activities WHERE organization_id = ${organizationId} AND actor_name > names.name
        ) FROM names WHERE names.name IS NOT NULL
      )
      SELECT name AS actor_name FROM names
      WHERE name IS NOT NULL AND name <> ${actor} AND EXISTS (
        SELECT 1 FROM activities
        WHERE organization_id = ${organizationId} AND actor_name = names.name AND actor_id = ${actor}
      )`.execute(db),
  ]);
  return [
    ...byName.rows.map(({ actor_id }) => ({ actor_name: actor, actor_id })),
    ...byId.rows.map(({ actor_name }) => ({ actor_name, actor_id: actor })),
  ];
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
