import { queryOptions } from '@tanstack/react-query';
import type { BudgetGetListResult, Operations } from '../api/generated.ts';
import { formatAgo, plural } from './format.ts';

export type Budget = BudgetGetListResult[number];
export type BudgetAlert = Budget['notices'][number];

export const budgetsQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'budgets'],
    queryFn: ({ signal }) => api.budgetGetList({ organizationId }, { signal }),
  });

/** Threshold of a budget: the forecast for the month reaches the budget. */
export const FORECAST = 'forecast';

export const formatThreshold = (threshold: number | string): string =>
  threshold === FORECAST ? FORECAST : `${threshold}%`;

/** An alert without a webhook is only in the audit log. A pending alert that was never attempted is not a problem yet. */
export const DELIVERY_LABELS: Record<BudgetAlert['delivery'], string> = {
  none: 'in the audit log',
  pending: 'pending',
  delivered: 'delivered',
  failed: 'failed',
};

/** Why an alert has not arrived, and when it is tried again. Undefined if there is nothing to explain. */
export function explainDelivery({ attempts, lastError, nextAttemptAt }: BudgetAlert, now: Date): string | undefined {
  if (lastError === undefined) return undefined;
  const next =
    nextAttemptAt === undefined
      ? 'No further attempts.'
      : `Next attempt ${Date.parse(nextAttemptAt) <= now.getTime() ? 'now' : formatAgo(new Date(nextAttemptAt), now)}.`;
  return `${lastError}. ${plural(attempts, 'attempt')} so far. ${next}`;
}
