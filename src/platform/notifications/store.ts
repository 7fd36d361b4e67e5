import { open, seal } from '../state/secrets/sealed-columns.ts';
import type { Db, NotificationRow } from '../state/tables.ts';
import { MAX_RETRY_DELAY_MS, type Notification, type Status, type Subject } from './notification.ts';
import type { Target } from './senders/target.ts';

/** Of the list, newest first. */
export interface NotificationFilter {
  subjectId?: string | undefined;
  channelId?: string | undefined;
  status?: Status | undefined;
  limit: number;
  /** The position after which the list continues. */
  before?: { createdAt: number; id: string } | undefined;
}

const toNotification = (db: Db, row: NotificationRow): Notification => ({
  ...(JSON.parse(open(db, 'notifications', row, row.document)) as Pick<
    Notification,
    'content' | 'lastAttemptAt' | 'lastError' | 'exchange'
  >),
  organizationId: row.organization_id,
  id: row.id,
  channelId: row.channel_id ?? undefined,
  subject: { type: row.subject_type as Subject['type'], id: row.subject_id },
  eventId: row.event_id,
  createdAt: row.created_at,
  status: row.status as Status,
  attempts: row.attempts,
  nextAttemptAt: row.next_attempt_at ?? undefined,
});

const toKey = ({ organizationId, id }: Notification) => ({ organization_id: organizationId, id });

const toDelivery = (tx: Db, notification: Notification) => ({
  status: notification.status,
  attempts: notification.attempts,
  next_attempt_at: notification.nextAttemptAt ?? null,
  document: seal(
    tx,
    'notifications',
    toKey(notification),
    JSON.stringify({
      content:
        notification.status === 'pending' ? notification.content : { ...notification.content, target: undefined },
      lastAttemptAt: notification.lastAttemptAt,
      lastError: notification.lastError,
      exchange: notification.exchange,
    }),
  ),
});

/** Of one statement. */
const MAX_INSERTED = 500;

/** Notifications whose id exists are left as they are. */
export async function insertNotifications(tx: Db, notifications: readonly Notification[]): Promise<void> {
  for (let from = 0; from < notifications.length; from += MAX_INSERTED) {
    const rows = notifications.slice(from, from + MAX_INSERTED).map((notification) => ({
      ...toKey(notification),
      channel_id: notification.channelId ?? null,
      subject_type: notification.subject.type,
      subject_id: notification.subject.id,
      event_id: notification.eventId,
      created_at: notification.createdAt,
      ...toDelivery(tx, notification),
    }));
    await tx
      .insertInto('notifications')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['organization_id', 'id']).doNothing())
      .execute();
  }
}

/** Changes the state of the delivery. */
export async function updateNotification(tx: Db, notification: Notification): Promise<void> {
  await tx
    .updateTable('notifications')
    .set(toDelivery(tx, notification))
    .where('organization_id', '=', notification.organizationId)
    .where('id', '=', notification.id)
    .execute();
}

export async function findNotification(db: Db, organizationId: string, id: string): Promise<Notification | undefined> {
  const row = await db
    .selectFrom('notifications')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toNotification(db, row);
}

export async function listNotificationsById(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<Notification[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('notifications')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute();
  return rows.map((row) => toNotification(db, row));
}

export async function listNotifications(
  db: Db,
  organizationId: string,
  { subjectId, channelId, status, limit, before }: NotificationFilter,
): Promise<Notification[]> {
  const rows = await db
    .selectFrom('notifications')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(subjectId !== undefined, (query) => query.where('subject_id', '=', subjectId ?? ''))
    .$if(channelId !== undefined, (query) => query.where('channel_id', '=', channelId ?? ''))
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? ''))
    .$if(before !== undefined, (query) =>
      query.where((eb) => eb(eb.refTuple('created_at', 'id'), '<', eb.tuple(before?.createdAt ?? 0, before?.id ?? ''))),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => toNotification(db, row));
}

/** Of all organizations, oldest first. */
export async function listDueNotifications(db: Db, now: number, limit: number): Promise<Notification[]> {
  const rows = await db
    .selectFrom('notifications')
    .selectAll()
    // The condition of the index.
    .where('next_attempt_at', 'is not', null)
    .where((eb) => eb.or([eb('next_attempt_at', '<=', now), eb('next_attempt_at', '>', now + MAX_RETRY_DELAY_MS)]))
    .orderBy('next_attempt_at')
    .orderBy('created_at')
    .limit(limit)
    .execute();
  return rows.map((row) => toNotification(db, row));
}

/** When the last of the earlier notifications of the same event in the same channel is due; undefined without any. */
export async function findEarlierAttempt(
  tx: Db,
  notification: Pick<Notification, 'organizationId' | 'channelId' | 'eventId' | 'createdAt'>,
): Promise<number | undefined> {
  const { channelId } = notification;
  const row = await tx
    .selectFrom('notifications')
    .select((eb) => eb.fn.max('next_attempt_at').as('at'))
    .where('organization_id', '=', notification.organizationId)
    .where('event_id', '=', notification.eventId)
    .where('created_at', '<', notification.createdAt)
    .where('next_attempt_at', 'is not', null)
    .where('channel_id', channelId === undefined ? 'is' : '=', channelId ?? null)
    .executeTakeFirst();
  return row?.at === null || row?.at === undefined ? undefined : Number(row.at);
}

/** Postpones everything that is due for a channel. */
export async function postponeChannel(
  tx: Db,
  { organizationId, channelId, now, until }: { organizationId: string; channelId: string; now: number; until: number },
): Promise<void> {
  await tx
    .updateTable('notifications')
    .set({ next_attempt_at: until })
    .where('organization_id', '=', organizationId)
    .where('channel_id', '=', channelId)
    .where('next_attempt_at', 'is not', null)
    .where('next_attempt_at', '<=', now)
    .execute();
}

/** Before a channel is deleted: "resolved" is still sent there, so that nothing stays open at the receiver. */
export async function keepTarget(
  tx: Db,
  { organizationId, channelId }: { organizationId: string; channelId: string },
  target: Target,
): Promise<void> {
  let before: NotificationFilter['before'];
  do {
    const page = await listNotifications(tx, organizationId, {
      channelId,
      status: 'pending',
      limit: MAX_INSERTED,
      before,
    });
    for (const notification of page) {
      const { content } = notification;
      if ('message' in content && content.message.kind === 'resolved')
        await updateNotification(tx, { ...notification, content: { ...content, target } });
    }
    before = page.length === MAX_INSERTED ? page.at(-1) : undefined;
  } while (before);
}

/** Nothing more is sent about a subject. */
export async function cancelNotifications(tx: Db, organizationId: string, subjectId: string): Promise<void> {
  await tx
    .updateTable('notifications')
    .set({ status: 'cancelled' satisfies Status, next_attempt_at: null })
    .where('organization_id', '=', organizationId)
    .where('subject_id', '=', subjectId)
    .where('next_attempt_at', 'is not', null)
    .execute();
}

/** Removes up to `limit` notifications that are not pending; returns their number. */
export async function deleteNotificationsBefore(
  tx: Db,
  organizationId: string,
  before: number,
  limit: number,
): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('notifications')
    .where('organization_id', '=', organizationId)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('notifications')
        .select('id')
        .where('organization_id', '=', organizationId)
        .where('created_at', '<', before)
        .where('next_attempt_at', 'is', null)
        .limit(limit),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
