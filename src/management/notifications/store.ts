import { keepTarget } from '../../platform/notifications/store.ts';
import { open, seal } from '../../platform/state/secrets/sealed-columns.ts';
import type { ChannelRow, Db } from '../../platform/state/tables.ts';
import { type Channel, toTarget } from './channel.ts';

const toChannel = (db: Db, row: ChannelRow): Channel => ({
  id: row.id,
  organizationId: row.organization_id,
  content: JSON.parse(open(db, 'channels', row, row.document)),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

/** Ordered by id; all without a page. */
export async function listChannels(
  db: Db,
  organizationId: string,
  page?: { limit: number; offset: number },
): Promise<Channel[]> {
  const query = db.selectFrom('channels').selectAll().where('organization_id', '=', organizationId).orderBy('id');
  const rows = await (page ? query.limit(page.limit).offset(page.offset) : query).execute();
  return rows.map((row) => toChannel(db, row));
}

export async function countChannels(db: Db, organizationId: string): Promise<number> {
  const row = await db
    .selectFrom('channels')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

export async function findChannel(db: Db, organizationId: string, id: string): Promise<Channel | undefined> {
  const row = await db
    .selectFrom('channels')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toChannel(db, row);
}

/** The id of the channel with this name. */
export async function findChannelId(
  db: Db,
  organizationId: string,
  { service, name }: { service: string; name: string },
): Promise<string | undefined> {
  const row = await db
    .selectFrom('channels')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('service', '=', service)
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.id;
}

export async function listChannelIds(db: Db, organizationId: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom('channels')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', 'in', [...new Set(ids)])
    .execute();
  return new Set(rows.map(({ id }) => id));
}

export async function putChannel(tx: Db, channel: Channel): Promise<void> {
  const { id, organizationId, content, createdAt, updatedAt } = channel;
  const { service, name } = content;
  const key = { organization_id: organizationId, id };
  const document = seal(tx, 'channels', key, JSON.stringify(content));
  const row = { service, name, document, updated_at: updatedAt };
  await tx
    .insertInto('channels')
    .values({ ...key, created_at: createdAt, ...row })
    .onConflict((conflict) => conflict.columns(['organization_id', 'id']).doUpdateSet(row))
    .execute();
}

/** The ends of incidents that are still to be sent are sent to where the channel was. */
export async function deleteChannel(tx: Db, { organizationId, id, content }: Channel): Promise<void> {
  await keepTarget(tx, { organizationId, channelId: id }, toTarget(content));
  await tx.deleteFrom('channels').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}
