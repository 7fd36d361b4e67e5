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

/** A threshold that was reached in a month, and the state of its delivery to the webhook. */
export interface BudgetAlert extends AlertKey {
  createdAt: number;
  /** The number of delivery attempts. */
  attempts: number;
  /** Undefined when no attempt is due. */
  nextAttemptAt: number | undefined;
  /** The same for every attempt, so that a receiver can recognize repeated deliveries. */
  deliveryId: string;
  /** The body of the request, the same for every attempt. */
  body: string;
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

/** The delays between delivery attempts, about a day in total. */
const RETRY_DELAYS_SECONDS = [10, 30, 60, 300, 900, 3600, 10_800, 21_600, 43_200];

/** The longest delay between two attempts. A time further ahead is from before the clock was set back. */
export const MAX_RETRY_DELAY_MS = Math.max(...RETRY_DELAYS_SECONDS) * 1000;

/** Undefined after the last attempt. */
export function findRetryDelayMs(attempts: number): number | undefined {
  const seconds = RETRY_DELAYS_SECONDS[attempts - 1];
  return seconds === undefined ? undefined : seconds * 1000;
}
