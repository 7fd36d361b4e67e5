import type { Webhook } from '../../../platform/webhooks/webhook.ts';

/** A percentage of the budget, or `forecast`: the forecast for the month reaches the whole budget. */
export type Threshold = number | 'forecast';

export const DEFAULT_THRESHOLDS: readonly Threshold[] = [50, 75, 90, 100, 'forecast'];

/** A spending limit for a calendar month (UTC). Reaching it raises alerts and stops nothing. */
export interface Budget {
  id: string;
  organizationId: string;
  name: string;
  monthlyMicros: number;
  thresholds: readonly Threshold[];
  webhook: Webhook | undefined;
  /** The ids of channels that also receive the alerts. */
  channelIds: readonly string[];
  createdAt: number;
  updatedAt: number;
}

/** Identifies an alert: each threshold raises one alert per month. */
export interface AlertKey {
  organizationId: string;
  budgetId: string;
  month: string;
  threshold: Threshold;
}

/** A threshold that was reached in a month, and the state of its notification for the webhook. */
export interface BudgetAlert extends AlertKey {
  createdAt: number;
  /** The number of delivery attempts. */
  attempts: number;
  /** Undefined when no attempt is due. */
  nextAttemptAt: number | undefined;
  /** The id of the notification for the webhook. */
  deliveryId: string;
  delivery: Delivery;
  lastAttemptAt?: number | undefined;
  /** Why the last attempt failed. Contains no secrets. */
  lastError?: string | undefined;
}

/** Of an alert to the webhook: `none` without a webhook; `pending` until the receiver accepts it; `failed` after the last attempt. */
export const DELIVERIES = ['none', 'pending', 'delivered', 'failed'] as const;
type Delivery = (typeof DELIVERIES)[number];

/** In micro-CHC. `expected` is the forecast for the month, undefined if no threshold needs it. */
export interface MonthSpending {
  month: string;
  spent: number;
  expected: number | undefined;
}

export function listReachedThresholds(
  { monthlyMicros, thresholds }: Pick<Budget, 'monthlyMicros' | 'thresholds'>,
  { spent, expected }: MonthSpending,
): Threshold[] {
  return thresholds.filter((threshold) =>
    threshold === 'forecast'
      ? expected !== undefined && expected >= monthlyMicros
      : spent * 100 >= threshold * monthlyMicros,
  );
}
