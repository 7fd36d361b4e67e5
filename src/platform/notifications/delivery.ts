import type { Logger } from 'pino';
import { MINUTE_MS, SECOND_MS } from '../../kernel/time/clock.ts';
import type { State } from '../state/state.ts';
import type { Db } from '../state/tables.ts';
import { findRetryDelayMs, getPauseMs, MAX_RETRY_DELAY_MS, type Notification, type Outcome } from './notification.ts';
import type { Send } from './senders/send.ts';
import type { Target } from './senders/target.ts';
import {
  findEarlierAttempt,
  findNotification,
  listDueNotifications,
  postponeChannel,
  updateNotification,
} from './store.ts';

interface Options {
  state: State;
  log: Pick<Logger, 'warn'>;
  /** Serializes changes of an organization. */
  lock(tx: Db, organizationId: string): Promise<unknown>;
  /** Where to send a notification, as of now. Undefined if there is nothing left to send it to. */
  findTarget(tx: Db, notification: Notification): Promise<Target | undefined>;
  send: Send;
}

const MAX_DUE = 256;
const MAX_RECEIVERS = 16;
/** Longer than an attempt takes. After that, another node may retry for a node that stopped. */
const CLAIM_MS = MINUTE_MS;

const isWaiting = (nextAttemptAt: number, now: number): boolean =>
  nextAttemptAt > now && nextAttemptAt <= now + MAX_RETRY_DELAY_MS;

/**
 * Delivers notifications, each at least once. A node claims a notification for a minute before it sends it, and marks it
 * as delivered after the receiver has accepted it. Several nodes may deliver at the same time. Each receiver gets one
 * notification after another; one that hangs delays its own only.
 */
export function createDelivery({ state, log, lock, findTarget, send }: Options) {
  /** Undefined when there is nothing to send: another node has claimed it, its target is gone, or an earlier one is waiting. */
  async function claim(due: Notification) {
    const now = await state.now();
    return state.write(async (tx) => {
      await lock(tx, due.organizationId);
      const notification = await findNotification(tx, due.organizationId, due.id);
      if (notification?.nextAttemptAt === undefined || isWaiting(notification.nextAttemptAt, now)) return undefined;
      const target = await findTarget(tx, notification);
      if (!target) {
        await updateNotification(tx, { ...notification, status: 'cancelled', nextAttemptAt: undefined });
        return undefined;
      }
      const earlier = await findEarlierAttempt(tx, notification);
      if (earlier !== undefined) {
        const nextAttemptAt = Math.min(Math.max(earlier, now), now + MAX_RETRY_DELAY_MS - SECOND_MS) + SECOND_MS;
        await updateNotification(tx, { ...notification, nextAttemptAt });
        return undefined;
      }
      const claimed = {
        ...notification,
        attempts: notification.attempts + 1,
        lastAttemptAt: now,
        nextAttemptAt: now + CLAIM_MS,
      };
      await updateNotification(tx, claimed);
      return { notification: claimed, target };
    });
  }

  /** Stores the result of an attempt. */
  async function mark(notification: Notification, outcome: Outcome): Promise<void> {
    const { error: lastError, exchange } = outcome;
    const now = await state.now();
    const delayMs = outcome.isFinal ? undefined : findRetryDelayMs(notification.attempts, outcome.retryAfterMs);
    const change: Partial<Notification> =
      lastError === undefined
        ? { status: 'delivered', nextAttemptAt: undefined }
        : delayMs === undefined
          ? { status: 'failed', nextAttemptAt: undefined }
          : { status: 'pending', nextAttemptAt: now + delayMs };
    const { organizationId, id, channelId, subject, attempts } = notification;
    if (lastError !== undefined) {
      const place = { organizationId, notificationId: id, channelId, subject };
      log.warn({ ...place, attempts, reason: lastError, final: delayMs === undefined }, 'notification not delivered');
    }
    await state.write(async (tx) => {
      await lock(tx, organizationId);
      const current = await findNotification(tx, organizationId, id);
      // It may have been cancelled in the meantime, or claimed by another node: then that one knows better.
      const isClaimed = current?.nextAttemptAt !== undefined && current.attempts === attempts;
      if (!isClaimed && lastError !== undefined) return;
      if (current) await updateNotification(tx, { ...current, ...change, lastError, exchange });
      if (outcome.isUnavailable && channelId !== undefined)
        await postponeChannel(tx, { organizationId, channelId, now, until: now + getPauseMs(outcome.retryAfterMs) });
    });
  }

  /** Sends the notifications of one receiver in order, until it does not respond. */
  async function deliverAll(notifications: readonly Notification[]): Promise<void> {
    for (const due of notifications) {
      const claimed = await claim(due);
      if (!claimed) continue;
      const outcome = await send(claimed.target, claimed.notification);
      await mark(claimed.notification, outcome);
      if (outcome.isUnavailable) return;
    }
  }

  return {
    /** Delivers everything that is due. */
    async run(): Promise<void> {
      for (;;) {
        const due = await listDueNotifications(state.db, await state.now(), MAX_DUE);
        const receivers = groupByReceiver(due);
        const work = receivers.values();
        await Promise.all(
          Array.from({ length: MAX_RECEIVERS }, async () => {
            for (const notifications of work) await deliverAll(notifications);
          }),
        );
        if (due.length < MAX_DUE) return;
      }
    },
  };
}

function groupByReceiver(notifications: readonly Notification[]): Map<string, Notification[]> {
  const receivers = new Map<string, Notification[]>();
  for (const notification of notifications) {
    const { organizationId, channelId, subject } = notification;
    const receiver = JSON.stringify([organizationId, channelId ?? subject.id]);
    const group = receivers.get(receiver) ?? [];
    group.push(notification);
    receivers.set(receiver, group);
  }
  return receivers;
}
