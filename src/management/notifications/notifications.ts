import type { Logger } from 'pino';
import { AppError } from '../../kernel/errors.ts';
import { deriveUuid, isUuid } from '../../kernel/ids.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import { createDelivery } from '../../platform/notifications/delivery.ts';
import { limitMessage, type Message } from '../../platform/notifications/message.ts';
import type { Notification, Subject } from '../../platform/notifications/notification.ts';
import type { MailSettings } from '../../platform/notifications/senders/email.ts';
import { createSend } from '../../platform/notifications/senders/send.ts';
import type { Target } from '../../platform/notifications/senders/target.ts';
import {
  cancelNotifications,
  findNotification,
  insertNotifications,
  listNotifications,
  listNotificationsById,
  type NotificationFilter,
  updateNotification,
} from '../../platform/notifications/store.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Webhook } from '../../platform/webhooks/webhook.ts';
import type { Actor } from '../audit/activity.ts';
import { DEFAULT_TIMEOUT_SECONDS, toTarget } from './channel.ts';
import { type ChannelOptions, createChannels } from './channels.ts';
import { findChannel, listChannelIds } from './store.ts';

export interface NotificationInput {
  organizationId: string;
  channelId: string;
  subject: Subject;
  /** The same key gives the same notification: enqueueing twice sends it once. */
  key: readonly string[];
  message: Message;
}

/** For the webhook that a subject has itself. */
interface OwnNotification extends Partial<Pick<Notification, 'attempts' | 'lastAttemptAt' | 'lastError'>> {
  organizationId: string;
  id: string;
  subject: Subject;
  body: string;
  createdAt: number;
  /** Default: at once. */
  nextAttemptAt?: number;
}

interface Options extends ChannelOptions {
  log: Pick<Logger, 'warn'>;
  /** Without it, there are no channels for mail. */
  smtp?: MailSettings | undefined;
  /** The webhook that a subject has now. */
  findOwnWebhook(db: Db, organizationId: string, subject: Subject): Promise<Webhook | undefined>;
}

export type Notifications = ReturnType<typeof createNotifications>;

const INTERVAL_MS = 5 * SECOND_MS;

/** Every message that leaves the server goes through this queue, which is in the store and survives restarts. */
export function createNotifications(options: Options) {
  const { state, clock, audit, organizations, log, allowPrivate, smtp, findOwnWebhook } = options;
  const send = createSend({ clock, allowPrivate, mail: smtp });
  const channels = createChannels({
    ...options,
    hasMail: smtp !== undefined,
    send,
    onRemoved: () => requestDelivery(),
  });
  const delivery = createDelivery({ state, log, lock: organizations.lock, findTarget, send });
  const loop = createBackgroundLoop({
    run: delivery.run,
    everyMs: INTERVAL_MS,
    onError: (error) => log.warn({ err: error }, 'failed to deliver notifications'),
  });

  async function findTarget(tx: Db, notification: Notification): Promise<Target | undefined> {
    const { organizationId, channelId, subject, content } = notification;
    if (channelId !== undefined) {
      const channel = await findChannel(tx, organizationId, channelId);
      return channel ? toTarget(channel.content) : content.target;
    }
    const webhook = await findOwnWebhook(tx, organizationId, subject);
    return webhook && { service: 'generic', ...webhook, timeoutMs: DEFAULT_TIMEOUT_SECONDS * SECOND_MS };
  }

  /** Starts delivery soon; called after the transaction committed. The process with the background work delivers. */
  function requestDelivery(): void {
    if (loop.isStarted()) void loop.trigger();
  }

  return {
    channels,
    start: loop.start,
    /** What is not delivered yet is delivered after the next start. */
    close: loop.close,
    /** Delivers what is due, and resolves after that. */
    trigger: loop.trigger,

    requestDelivery,

    /** In the caller's transaction. A channel that does not exist any more is skipped. */
    async enqueue(tx: Db, inputs: readonly NotificationInput[]): Promise<void> {
      const existing = new Map<string, Set<string>>();
      for (const { organizationId } of inputs)
        if (!existing.has(organizationId)) {
          const ids = inputs.flatMap((input) => (input.organizationId === organizationId ? [input.channelId] : []));
          existing.set(organizationId, await listChannelIds(tx, organizationId, ids));
        }
      const createdAt = clock.now();
      const sent = inputs.filter(({ organizationId, channelId }) => existing.get(organizationId)?.has(channelId));
      await insertNotifications(
        tx,
        sent.map(({ organizationId, channelId, subject, key, message }) => ({
          organizationId,
          id: deriveUuid('notification', organizationId, channelId, ...key),
          channelId,
          subject,
          eventId: message.eventId,
          content: { message: limitMessage(message) },
          createdAt,
          status: 'pending',
          attempts: 0,
          // Due at once, by the clock of every node.
          nextAttemptAt: 0,
        })),
      );
    },

    /** In the caller's transaction: a body for the webhook that the subject has when it is sent. */
    enqueueOwn: (tx: Db, { body, ...own }: OwnNotification): Promise<void> =>
      insertNotifications(tx, [
        {
          attempts: 0,
          nextAttemptAt: 0,
          ...own,
          channelId: undefined,
          eventId: own.id,
          content: { body },
          status: 'pending',
        },
      ]),

    /** In the caller's transaction: nothing more is sent about a subject. */
    cancel: (tx: Db, organizationId: string, subjectId: string): Promise<void> =>
      cancelNotifications(tx, organizationId, subjectId),

    /** Which of these channel ids exist. */
    listExistingChannelIds: (db: Db, organizationId: string, ids: readonly string[]): Promise<Set<string>> =>
      listChannelIds(db, organizationId, ids),

    /** Newest first. */
    list: (organizationId: string, filter: NotificationFilter): Promise<Notification[]> =>
      listNotifications(state.db, organizationId, filter),

    listById: (organizationId: string, ids: readonly string[]): Promise<Notification[]> =>
      listNotificationsById(state.db, organizationId, ids),

    /** Repeats all attempts. The id stays, so a receiver that has the notification can ignore it. */
    async sendAgain(actor: Actor, organizationId: string, id: string): Promise<Notification> {
      const again = await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const notification = isUuid(id) ? await findNotification(tx, organizationId, id) : undefined;
        if (!notification) throw new AppError('not_found', 'Notification not found');
        const pending: Notification = { ...notification, status: 'pending', attempts: 0, nextAttemptAt: 0 };
        await updateNotification(tx, pending);
        await audit.record(tx, actor, {
          organizationId,
          type: 'notification_send_again',
          resource: { type: 'notification', id },
          after: { channelId: notification.channelId, subject: notification.subject },
        });
        return pending;
      });
      requestDelivery();
      return again;
    },
  };
}
