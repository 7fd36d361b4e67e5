import type { Logger } from 'pino';
import { AppError, rejectViolations } from '../../../kernel/errors.ts';
import { newUuid } from '../../../kernel/ids.ts';
import { chcFromMicros, MICROS_PER_CHC, microsFromChc } from '../../../kernel/numbers/money.ts';
import { createBackgroundLoop } from '../../../kernel/tasks/background-loop.ts';
import { type Clock, SECOND_MS } from '../../../kernel/time/clock.ts';
import { toUtcDay } from '../../../kernel/time/days.ts';
import { newWebhookSecret } from '../../../platform/credentials/secrets.ts';
import type { Notification } from '../../../platform/notifications/notification.ts';
import type { InTransaction, State } from '../../../platform/state/state.ts';
import type { Db } from '../../../platform/state/tables.ts';
import { findUrlViolation, type Webhook } from '../../../platform/webhooks/webhook.ts';
import { type Actor, difference } from '../../audit/activity.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Notifications } from '../../notifications/notifications.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import type { Forecasts } from '../forecast/forecasts.ts';
import type { Summaries } from '../reports/summaries.ts';
import { type Budget, type BudgetAlert, DEFAULT_THRESHOLDS, type Threshold } from './budget.ts';
import { createAlertQueueing } from './queue-alerts.ts';
import { deleteBudget, findBudget, listAlerts, listBudgets, putBudget } from './store.ts';
import { createThresholdChecks } from './threshold-checks.ts';

export type Budgets = ReturnType<typeof createBudgets>;

/** Omitted fields keep their value, or get the default. A webhook without a secret keeps the one it has. */
interface BudgetSettings {
  name?: string | undefined;
  monthlyCHC?: number | undefined;
  thresholds?: readonly Threshold[] | undefined;
  /** null removes the webhook. */
  webhook?: { url: string; secret?: string | undefined } | null | undefined;
  channelIds?: readonly string[] | undefined;
}

export interface BudgetWithAlerts {
  budget: Budget;
  /** The alerts of the current month. */
  alerts: readonly BudgetAlert[];
  /** Only if the call generated it. */
  newSecret?: string;
}

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  summaries: Summaries;
  forecasts: Forecasts;
  notifications: Notifications;
  log: Pick<Logger, 'warn'>;
  /** Allows webhooks to loopback and private addresses. */
  allowPrivate: boolean;
}

const MAX_BUDGETS = 100;
const INTERVAL_MS = 15 * SECOND_MS;

export function createBudgets(options: Options) {
  const { state, clock, audit, organizations, notifications, log, allowPrivate } = options;
  const thresholdChecks = createThresholdChecks(options);
  const queueing = createAlertQueueing(options);

  /** Checks all budgets. */
  const loop = createBackgroundLoop({
    async run() {
      await queueing.run();
      await thresholdChecks.run();
      notifications.requestDelivery();
    },
    everyMs: INTERVAL_MS,
    onError: (error) => log.warn({ err: error }, 'failed to check budgets'),
  });

  /** Commands of the CLI do not start the loop; they leave the check to the server. */
  function requestCheck(): void {
    if (loop.isStarted()) void loop.trigger();
  }

  async function get(db: Db, organizationId: string, id: string): Promise<Budget> {
    const budget = await findBudget(db, organizationId, id);
    if (!budget) throw new AppError('not_found', `budget ${id} does not exist`);
    return budget;
  }

  async function addAlerts(organizationId: string, budgets: readonly Budget[]): Promise<BudgetWithAlerts[]> {
    const stored = await listAlerts(state.db, organizationId, toUtcDay(clock.now()).slice(0, 7));
    const sent = await notifications.listById(
      organizationId,
      stored.map(({ deliveryId }) => deliveryId),
    );
    const byId = new Map(sent.map((notification) => [notification.id, notification]));
    const alerts = stored.map((alert) => withDelivery(alert, byId.get(alert.deliveryId)));
    return budgets.map((budget) => ({ budget, alerts: alerts.filter(({ budgetId }) => budgetId === budget.id) }));
  }

  return {
    /** Runs a check now, and delivers the alerts. */
    async check(): Promise<void> {
      await loop.trigger();
      await notifications.trigger();
    },
    start: loop.start,
    /** Alerts that are not delivered yet are delivered after the next start. */
    close: loop.close,

    list: async (organizationId: string): Promise<BudgetWithAlerts[]> =>
      addAlerts(organizationId, await listBudgets(state.db, organizationId)),

    async get(organizationId: string, id: string): Promise<BudgetWithAlerts> {
      const budget = await get(state.db, organizationId, id);
      return (await addAlerts(organizationId, [budget]))[0] ?? { budget, alerts: [] };
    },

    async create(
      actor: Actor,
      organizationId: string,
      settings: BudgetSettings,
      inTransaction?: InTransaction<BudgetWithAlerts>,
    ): Promise<BudgetWithAlerts> {
      const { webhook, newSecret } = resolveWebhook(settings.webhook, undefined);
      const now = clock.now();
      const budget: Budget = {
        id: newUuid(),
        organizationId,
        name: settings.name ?? 'Budget',
        monthlyMicros: parseMonthlyMicros(settings.monthlyCHC ?? 0),
        thresholds: settings.thresholds ?? DEFAULT_THRESHOLDS,
        webhook,
        channelIds: settings.channelIds ?? [],
        createdAt: now,
        updatedAt: now,
      };
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        if ((await listBudgets(tx, organizationId)).length >= MAX_BUDGETS)
          throw new AppError('conflict', `The organization has reached its limit of ${MAX_BUDGETS} budgets`);
        await checkChannels(tx, budget);
        await putBudget(tx, budget);
        await audit.record(tx, actor, {
          organizationId,
          type: 'budget_create',
          resource: { type: 'budget', id: budget.id },
          after: toAuditRecord(budget),
        });
        await inTransaction?.(tx, { budget, alerts: [] });
      });
      requestCheck();
      return { budget, alerts: [], ...(newSecret === undefined ? {} : { newSecret }) };
    },

    /** Omitted fields keep their value. Thresholds that raised an alert this month do not raise another. */
    async update(
      actor: Actor,
      organizationId: string,
      id: string,
      settings: BudgetSettings,
    ): Promise<BudgetWithAlerts> {
      const { budget, newSecret } = await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const before = await get(tx, organizationId, id);
        const { webhook, newSecret: generated } = resolveWebhook(settings.webhook, before.webhook);
        const after: Budget = {
          ...before,
          name: settings.name ?? before.name,
          monthlyMicros:
            settings.monthlyCHC === undefined ? before.monthlyMicros : parseMonthlyMicros(settings.monthlyCHC),
          thresholds: settings.thresholds ?? before.thresholds,
          webhook,
          channelIds: settings.channelIds ?? before.channelIds,
          updatedAt: clock.now(),
        };
        if (settings.channelIds) await checkChannels(tx, after);
        const changed = difference(toAuditRecord(before), toAuditRecord(after));
        const isSame = before.webhook?.secret === after.webhook?.secret && before.webhook?.url === after.webhook?.url;
        if (isSame && Object.keys({ ...changed.before, ...changed.after }).length === 0)
          return { budget: before, newSecret: undefined };
        await putBudget(tx, after);
        await audit.record(tx, actor, {
          organizationId,
          type: 'budget_update',
          resource: { type: 'budget', id },
          ...changed,
        });
        return { budget: after, newSecret: generated };
      });
      requestCheck();
      const [current] = await addAlerts(organizationId, [budget]);
      return { budget, alerts: current?.alerts ?? [], ...(newSecret === undefined ? {} : { newSecret }) };
    },

    /** Deletes the alerts of the budget too; pending deliveries are dropped. */
    async remove(actor: Actor, organizationId: string, id: string): Promise<void> {
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const budget = await get(tx, organizationId, id);
        await deleteBudget(tx, organizationId, id);
        await notifications.cancel(tx, organizationId, id);
        await audit.record(tx, actor, {
          organizationId,
          type: 'budget_delete',
          resource: { type: 'budget', id },
          before: toAuditRecord(budget),
        });
      });
    },
  };

  async function checkChannels(tx: Db, { organizationId, channelIds }: Budget): Promise<void> {
    const existing = await notifications.listExistingChannelIds(tx, organizationId, channelIds);
    rejectViolations(
      channelIds.flatMap((value, index) =>
        existing.has(value) ? [] : [{ path: `channels[${index}].webhookId`, rule: 'Webhook not found', value }],
      ),
    );
  }

  /** Omitted: unchanged. A URL without a secret keeps the existing secret, or gets a new one. */
  function resolveWebhook(given: BudgetSettings['webhook'], before: Webhook | undefined) {
    if (given === undefined) return { webhook: before };
    if (given === null) return { webhook: undefined };
    const violation = findUrlViolation(given.url, { allowPrivate });
    if (violation !== undefined)
      rejectViolations([{ path: 'webhook.url', rule: violation, value: given.url, secret: true }]);
    const secret = given.secret ?? before?.secret;
    if (secret !== undefined) return { webhook: { url: given.url, secret } };
    const newSecret = newWebhookSecret();
    return { webhook: { url: given.url, secret: newSecret }, newSecret };
  }
}

/** The state of the delivery is that of the notification; alerts of earlier versions have their own. */
function withDelivery(alert: BudgetAlert, notification: Notification | undefined): BudgetAlert {
  if (!notification) return alert;
  const { status, attempts, nextAttemptAt, lastAttemptAt, lastError } = notification;
  const delivery = status === 'cancelled' ? 'none' : status;
  return { ...alert, delivery, attempts, nextAttemptAt, lastAttemptAt, lastError };
}

const MAX_MONTHLY_CHC = 1_000_000_000;

function parseMonthlyMicros(chc: number): number {
  const micros = microsFromChc(chc, MAX_MONTHLY_CHC * MICROS_PER_CHC) ?? 0;
  if (micros === 0) {
    const rule = `The value must be greater than 0 and at most ${MAX_MONTHLY_CHC}, with at most 6 decimals`;
    rejectViolations([{ path: 'monthlyCHC', rule, value: chc }]);
  }
  return micros;
}

/** For the audit log. The path and query of a webhook URL often contain secrets, so only the origin is included. */
function toAuditRecord({ name, monthlyMicros, thresholds, webhook, channelIds }: Budget) {
  return {
    name,
    monthlyCHC: chcFromMicros(monthlyMicros),
    thresholds,
    webhook: webhook ? new URL(webhook.url).origin : null,
    ...(channelIds.length > 0 && { channels: channelIds }),
  };
}
