import { prepared } from '../state/prepared.ts';
import type { ActivityRow, Db } from '../state/tables.ts';
import type { Activity, ActivityType, Actor } from './activity.ts';

const insert = prepared((db: Db, value: ActivityRow) =>
  db.insertInto('activities').values({
    organization_id: value.organization_id,
    id: value.id,
    created_at: value.created_at,
    type: value.type,
    actor_type: value.actor_type,
    actor_id: value.actor_id,
    actor_details: value.actor_details,
    address: value.address,
    user_agent: value.user_agent,
    request_id: value.request_id,
    service_id: value.service_id,
    resource_type: value.resource_type,
    resource_id: value.resource_id,
    before: value.before,
    after: value.after,
  }),
);

export async function insertActivity(
  tx: Db,
  { organizationId, id, createdAt, type, actor, resource, serviceId, before, after }: Activity,
): Promise<void> {
  await insert.first(tx, {
    organization_id: organizationId,
    id,
    created_at: createdAt,
    type,
    actor_type: actor.type,
    actor_id: actor.id,
    actor_details: actor.details,
    address: actor.address ?? null,
    user_agent: actor.userAgent ?? null,
    request_id: actor.requestId ?? null,
    service_id: serviceId ?? null,
    resource_type: resource.type,
    resource_id: resource.id,
    before: before === undefined ? null : JSON.stringify(before),
    after: after === undefined ? null : JSON.stringify(after),
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
  let query = db.selectFrom('activities').selectAll().where('organization_id', '=', organizationId);
  if (fromMs !== undefined) query = query.where('created_at', '>=', fromMs);
  if (toMs !== undefined) query = query.where('created_at', '<', toMs);
  if (before !== undefined) query = query.where('id', '<', before);
  const rows = await query.orderBy('id', 'desc').limit(limit).execute();
  return rows.map(toActivity);
}

export async function findActivity(db: Db, organizationId: string, id: string): Promise<Activity | undefined> {
  const row = await db
    .selectFrom('activities')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toActivity(row);
}

function toActivity(row: ActivityRow): Activity {
  const actor: Actor = { type: row.actor_type as Actor['type'], id: row.actor_id, details: row.actor_details };
  if (row.address !== null) actor.address = row.address;
  if (row.user_agent !== null) actor.userAgent = row.user_agent;
  if (row.request_id !== null) actor.requestId = row.request_id;
  const activity: Activity = {
    organizationId: row.organization_id,
    id: row.id,
    createdAt: row.created_at,
    type: row.type as ActivityType,
    actor,
    resource: { type: row.resource_type, id: row.resource_id },
  };
  if (row.service_id !== null) activity.serviceId = row.service_id;
  if (row.before !== null) activity.before = JSON.parse(row.before);
  if (row.after !== null) activity.after = JSON.parse(row.after);
  return activity;
}
