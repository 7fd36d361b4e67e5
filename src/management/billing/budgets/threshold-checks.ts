import type { Logger } from 'pino';
import { deriveUuid } from '../../../kernel/ids.ts';
import { chcFromMicros } from '../../../kernel/numbers/money.ts';
import { type Clock, isoTime } from '../../../kernel/time/clock.ts';
import { listDaysBetween, toUtcDay } from '../../../kernel/time/days.ts';
import type { Message } from '../../../platform/notifications/message.ts';
import type { State } from '../../../platform/state/state.ts';
import type { Actor } from '../../audit/activity.ts';
import type { Audit } from '../../audit/audit.ts';
import type { NotificationInput, Notifications } from '../../notifications/notifications.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import { addMicros, totalMicros } from '../cost.ts';
import type { Forecasts } from '../forecast/forecasts.ts';
import type { Summaries } from '../reports/summaries.ts';
import { type Budget, listReachedThresholds, type MonthSpending, type Threshold } from './budget.ts';
import { findAlert, findBudget, insertAlert, listAlerts, listAllBudgets } from './store.ts';

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  summaries: Summaries;
  forecasts: Forecasts;
  notifications: Pick<Notifications, 'enqueue' | 'enqueueOwn'>;
  log: Pick<Logger, 'warn'>;
}

const ACTOR: Actor = { type: 'system', id: 'budgets', details: 'pilothouse budgets' };

/** Raises an alert for each threshold that the spending of the current month has reached. */
export function createThresholdChecks(options: Options) {
  const { state, clock, audit, organizations, summaries, forecasts, notifications, log } = options;
  /** The state at the last check of each organization. An unchanged organization is skipped. */
  const lastChecks = new Map<string, string>();

  async function checkOrganization(organizationId: string, budgets: readonly Budget[]): Promise<void> {
    const { costRevision } = await organizations.get(organizationId);
    const today = toUtcDay(clock.now());
    const current = JSON.stringify([
      costRevision,
      today,
      budgets.map(({ id, monthlyMicros, thresholds }) => [id, monthlyMicros, thresholds]),
    ]);
    if (lastChecks.get(organizationId) === current) return;
    const month = today.slice(0, 7);
    const pending = await listBudgetsToCheck(organizationId, budgets, month);
    if (pending.length > 0) {
      const spending = await readSpending(organizationId, month, pending);
      for (const budget of pending)
        for (const threshold of listReachedThresholds(budget, spending)) await raiseAlert(budget, threshold, spending);
    }
    lastChecks.set(organizationId, current);
  }

  /** The budgets with the thresholds that have not raised an alert this month. */
  async function listBudgetsToCheck(
    organizationId: string,
    budgets: readonly Budget[],
    month: string,
  ): Promise<Budget[]> {
    const alerts = await listAlerts(state.db, organizationId, month);
    const hasAlert = (budget: Budget, threshold: Threshold) =>
      alerts.some((alert) => alert.budgetId === budget.id && alert.threshold === threshold);
    return budgets
      .map((budget) => ({ ...budget, thresholds: budget.thresholds.filter((one) => !hasAlert(budget, one)) }))
      .filter(({ thresholds }) => thresholds.length > 0);
  }

  async function readSpending(
    organizationId: string,
    month: string,
    budgets: readonly Budget[],
  ): Promise<MonthSpending> {
    const today = toUtcDay(clock.now());
    const costs = await summaries.listDailyCosts(organizationId, listDaysBetween(`${month}-01`, today));
    const needsForecast = budgets.some(({ thresholds }) => thresholds.includes('forecast'));
    return {
      month,
      spent: totalMicros(addMicros(costs)),
      expected: needsForecast ? (await forecasts.get(organizationId)).expected : undefined,
    };
  }

  /** Stores the alert and its activity together, and only once if several nodes check at the same time. */
  async function raiseAlert(
    { organizationId, id }: Budget,
    threshold: Threshold,
    spending: MonthSpending,
  ): Promise<void> {
    await state.write(async (tx) => {
      await organizations.lock(tx, organizationId);
      const budget = await findBudget(tx, organizationId, id);
      const key = { organizationId, budgetId: id, month: spending.month, threshold };
      if (!budget || (await findAlert(tx, key))) return;
      if (!listReachedThresholds(budget, spending).includes(threshold)) return;
      const createdAt = clock.now();
      // The spending was read in the month before, or by a node that was suspended since then.
      if (!toUtcDay(createdAt).startsWith(spending.month)) return;
      const deliveryId = deriveUuid('budget notice', organizationId, id, spending.month, String(threshold));
      const details = toAlertDetails(budget, threshold, spending);
      await insertAlert(tx, { ...key, createdAt, deliveryId, delivery: budget.webhook ? 'pending' : 'none' });
      const subject = { type: 'budget' as const, id };
      if (budget.webhook) {
        const head = { id: deliveryId, type: 'budget_threshold', createdAt: isoTime(createdAt) };
        const body = JSON.stringify({ ...head, organizationId, budgetId: id, ...details });
        await notifications.enqueueOwn(tx, { organizationId, id: deliveryId, subject, body, createdAt });
      }
      const common: Omit<NotificationInput, 'channelId'> = {
        organizationId,
        subject,
        key: ['budget', id, spending.month, String(threshold)],
        message: toMessage(details, deliveryId, createdAt),
      };
      await notifications.enqueue(
        tx,
        budget.channelIds.map((channelId) => ({ ...common, channelId })),
      );
      await audit.record(tx, ACTOR, {
        organizationId,
        type: 'budget_threshold',
        resource: { type: 'budget', id },
        after: details,
      });
    });
  }

  return {
    async run(): Promise<void> {
      const byOrganization = new Map<string, Budget[]>();
      for (const budget of await listAllBudgets(state.db)) {
        const budgets = byOrganization.get(budget.organizationId) ?? [];
        byOrganization.set(budget.organizationId, [...budgets, budget]);
      }
      for (const [organizationId, budgets] of byOrganization) {
        try {
          await checkOrganization(organizationId, budgets);
        } catch (error) {
          // The next run checks this organization again.
          log.warn({ organizationId, err: error }, 'failed to check the budgets of an organization');
        }
      }
    },
  };
}

function toAlertDetails(
  { name, monthlyMicros }: Budget,
  threshold: Threshold,
  { month, spent, expected }: MonthSpending,
) {
  return {
    name,
    month,
    threshold,
    monthlyCHC: chcFromMicros(monthlyMicros),
    spentCHC: chcFromMicros(spent),
    ...(expected === undefined ? {} : { expectedCHC: chcFromMicros(expected) }),
  };
}

/** For channels. Each threshold is an incident of its own. */
function toMessage(details: ReturnType<typeof toAlertDetails>, eventId: string, now: number): Message {
  const { name, month, threshold, monthlyCHC, spentCHC, expectedCHC } = details;
  const isReached = threshold !== 'forecast' && threshold >= 100;
  return {
    kind: 'firing',
    eventId,
    title:
      threshold === 'forecast'
        ? `${name}: the forecast for ${month} reaches the budget`
        : `${name}: ${threshold} % of the budget for ${month} is spent`,
    body: [
      `Spent: ${spentCHC} CHC of ${monthlyCHC} CHC.`,
      ...(expectedCHC === undefined ? [] : [`Forecast for the month: ${expectedCHC} CHC.`]),
    ].join(' '),
    severity: isReached ? 'error' : 'warning',
    startTime: Date.parse(`${month}-01T00:00:00Z`),
    endTime: now,
    name,
    value: spentCHC,
    threshold: threshold === 'forecast' ? threshold : `${threshold} %`,
  };
}
