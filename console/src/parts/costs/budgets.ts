import { queryOptions } from '@tanstack/react-query';
import type { BudgetGetListResult, Operations } from '../../api/generated.ts';
import { formatAgo, plural } from '../format/format.ts';

export type Budget = BudgetGetListResult[number];
type BudgetAlert = Budget['notices'][number];

/** Alerts are raised and delivered in the background. */
const REFETCH_MS = 30_000;

export const budgetsQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'budgets'],
    queryFn: ({ signal }) => api.budgetGetList({ organizationId }, { signal }),
    refetchInterval: REFETCH_MS,
  });

/** Threshold of a budget: the forecast for the month reaches the budget. */
export const FORECAST = 'forecast';

export const formatThreshold = (threshold: number | string): string =>
  threshold === FORECAST ? FORECAST : `${threshold}%`;

/** An alert without a webhook is only in the audit log. */
export const DELIVERY_LABELS: Record<BudgetAlert['delivery'], string> = {
  none: 'in the audit log',
  pending: 'pending',
  delivered: 'delivered',
  failed: 'failed',
};

/** Alerts with the same state of delivery and the same error. */
interface AlertGroup {
  delivery: BudgetAlert['delivery'];
  /** "50%, 75%". */
  thresholds: string;
  /** Of the last attempt, or of the alert without one. */
  at: string;
  /** Why the alerts have not arrived, and when they are tried again. */
  reason: string | undefined;
}

/** In the order of their thresholds. */
export function groupAlerts(alerts: readonly BudgetAlert[], now: Date): AlertGroup[] {
  const groups = new Map<string, BudgetAlert[]>();
  for (const alert of alerts) {
    const key = `${alert.delivery} ${alert.lastError ?? ''}`;
    groups.set(key, [...(groups.get(key) ?? []), alert]);
  }
  return [...groups.values()].map((group) => ({
    delivery: group[0]?.delivery ?? 'none',
    thresholds: group.map(({ threshold }) => formatThreshold(threshold)).join(', '),
    at:
      group
        .map(({ lastAttemptAt, createdAt }) => lastAttemptAt ?? createdAt)
        .toSorted()
        .at(-1) ?? '',
    reason: explainDelivery(group, now),
  }));
}

/** Undefined if there is nothing to explain. */
function explainDelivery(alerts: readonly BudgetAlert[], now: Date): string | undefined {
  const lastError = alerts[0]?.lastError;
  if (lastError === undefined) return undefined;
  const attempts = Math.max(...alerts.map((alert) => alert.attempts));
  const next = alerts.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []).toSorted()[0];
  return `${lastError}. ${plural(attempts, 'attempt')} so far. ${next === undefined ? 'No further attempts' : `Next attempt ${formatNext(next, now)}`}.`;
}

const MINUTE_MS = 60_000;

const formatNext = (time: string, now: Date): string =>
  Date.parse(time) - now.getTime() < MINUTE_MS ? 'within a minute' : formatAgo(new Date(time), now);
