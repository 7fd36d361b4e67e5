import type { Logger } from 'pino';
import { MINUTE_MS } from '../../../kernel/time/clock.ts';
import type { State } from '../../../platform/state/state.ts';
import { formatRequestError, requireSuccess, type SignedRequests } from '../../../platform/webhooks/signed-requests.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import { type BudgetAlert, findRetryDelayMs, MAX_RETRY_DELAY_MS } from './budget.ts';
import { findAlert, findBudget, listDueAlerts, putAlert } from './store.ts';

interface Options {
  state: State;
  organizations: Organizations;
  log: Pick<Logger, 'warn'>;
  requests: SignedRequests;
}

const MAX_CONCURRENT = 16;
/** Longer than an attempt takes. After that, another node may retry for a node that stopped. */
const CLAIM_MS = MINUTE_MS;

const isWaiting = (nextAttemptAt: number, now: number): boolean =>
  nextAttemptAt > now && nextAttemptAt <= now + MAX_RETRY_DELAY_MS;

/**
 * Delivers alerts to webhooks, each at least once. A node claims an alert for a minute before it sends it, and marks it
 * as delivered after the receiver has accepted it. Several nodes may deliver at the same time.
 */
export function createDeliveries({ state, organizations, log, requests }: Options) {
  /** Undefined when another node has claimed the alert, or the budget no longer has a webhook. */
  async function claim(due: BudgetAlert) {
    const now = await state.now();
    return state.write(async (tx) => {
      await organizations.lock(tx, due.organizationId);
      const alert = await findAlert(tx, due);
      if (alert?.nextAttemptAt === undefined || isWaiting(alert.nextAttemptAt, now)) return undefined;
      const webhook = (await findBudget(tx, due.organizationId, due.budgetId))?.webhook;
      if (!webhook) {
        await putAlert(tx, { ...alert, nextAttemptAt: undefined, delivery: 'none' });
        return undefined;
      }
      const claimed = { ...alert, attempts: alert.attempts + 1, lastAttemptAt: now, nextAttemptAt: now + CLAIM_MS };
      await putAlert(tx, claimed);
      return { alert: claimed, webhook };
    });
  }

  /** Does nothing if the budget was deleted in the meantime. */
  async function update(alert: BudgetAlert, change: Partial<BudgetAlert>): Promise<void> {
    await state.write(async (tx) => {
      await organizations.lock(tx, alert.organizationId);
      const current = await findAlert(tx, alert);
      if (current) await putAlert(tx, { ...current, ...change });
    });
  }

  async function deliver(due: BudgetAlert): Promise<void> {
    const claimed = await claim(due);
    if (!claimed) return;
    const { alert, webhook } = claimed;
    try {
      const { deliveryId, body } = alert;
      requireSuccess(webhook, await requests.send(webhook, { method: 'POST', deliveryId, body }));
      await update(alert, { nextAttemptAt: undefined, delivery: 'delivered', lastError: undefined });
    } catch (error) {
      const delayMs = findRetryDelayMs(alert.attempts);
      const { budgetId, deliveryId, attempts } = alert;
      const lastError = formatRequestError(error);
      const isFinal = delayMs === undefined;
      log.warn({ budgetId, deliveryId, attempts, reason: lastError, final: isFinal }, 'budget alert not delivered');
      await update(
        alert,
        delayMs === undefined
          ? { nextAttemptAt: undefined, delivery: 'failed', lastError }
          : { nextAttemptAt: (await state.now()) + delayMs, delivery: 'pending', lastError },
      );
    }
  }

  return {
    /** Delivers all alerts that are due. */
    async run(): Promise<void> {
      for (;;) {
        const due = await listDueAlerts(state.db, await state.now(), MAX_CONCURRENT);
        await Promise.all(due.map(deliver));
        if (due.length < MAX_CONCURRENT) return;
      }
    },
  };
}
