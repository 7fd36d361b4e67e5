import type { State } from '../../../platform/state/state.ts';
import type { Notifications } from '../../notifications/notifications.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import { findAlert, listUnqueuedAlerts, markAsQueued, type UnqueuedAlert } from './store.ts';

interface Options {
  state: State;
  organizations: Organizations;
  notifications: Pick<Notifications, 'enqueueOwn'>;
}

const ALERTS_PER_READ = 100;

/** Moves alerts whose delivery an earlier version began into the queue of notifications. */
export function createAlertQueueing({ state, organizations, notifications }: Options) {
  const enqueue = (alert: UnqueuedAlert): Promise<void> =>
    state.write(async (tx) => {
      const { organizationId, deliveryId: id, budgetId, body, createdAt } = alert;
      await organizations.lock(tx, organizationId);
      // Another node may have done it.
      if ((await findAlert(tx, alert))?.nextAttemptAt === undefined) return;
      const { attempts, nextAttemptAt, lastAttemptAt, lastError } = alert;
      await notifications.enqueueOwn(tx, {
        ...{ organizationId, id, body, createdAt, attempts, nextAttemptAt, lastAttemptAt, lastError },
        subject: { type: 'budget', id: budgetId },
      });
      await markAsQueued(tx, alert);
    });

  let isDone = false;
  return {
    async run(): Promise<void> {
      while (!isDone) {
        const alerts = await listUnqueuedAlerts(state.db, ALERTS_PER_READ);
        for (const alert of alerts) await enqueue(alert);
        isDone = alerts.length < ALERTS_PER_READ;
      }
    },
  };
}
