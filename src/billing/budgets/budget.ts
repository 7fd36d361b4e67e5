import { classifyAddress } from '../../kernel/addresses.ts';

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

/** The secret signs deliveries, so it is stored in plain text. It is shown once, when it is generated. */
export interface Webhook {
  url: string;
  secret: string;
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
  delivery: 'none' | 'pending' | 'delivered' | 'failed';
}

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

const MAX_URL_LENGTH = 2048;

/** The rule that a webhook URL violates. Host names are resolved only when an alert is delivered. */
export function findUrlViolation(text: string, { allowPrivate }: { allowPrivate: boolean }): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'The value must be an http or https URL';
  if (text.length > MAX_URL_LENGTH) return `The value must have at most ${MAX_URL_LENGTH} characters`;
  if (url.username !== '' || url.password !== '') return 'The value must not contain a user name or password';
  const host = getHost(url);
  const isAddress = /^[\d.]+$/.test(host) || host.includes(':');
  return isAddress ? findAddressViolation(host, allowPrivate) : undefined;
}

/** The host name, or the address without the brackets of IPv6. */
export const getHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** Prevents requests to internal addresses. */
export function findAddressViolation(address: string, allowPrivate: boolean): string | undefined {
  const addressClass = classifyAddress(address);
  if (addressClass === 'public' || (addressClass === 'private' && allowPrivate)) return undefined;
  return addressClass === 'private'
    ? 'The address is private; allow private addresses with --webhook-allow-private yes'
    : 'The address is link-local, reserved or a metadata service, which is never allowed';
}
