import { classifyAddress } from '../../kernel/addresses.ts';

/** A share of the budget in percent, or the forecast of the month's end reaching all of it. */
export type Threshold = number | 'forecast';

export const DEFAULT_THRESHOLDS: readonly Threshold[] = [50, 75, 90, 100, 'forecast'];

/** What an organization means to spend in a calendar month (UTC), and whom to tell on the way there. It stops nothing. */
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

/** The secret signs what is sent, so it is kept as it is; it is shown once, when it is made. */
export interface Webhook {
  url: string;
  secret: string;
}

/** A threshold that was reached in a month. Each tells once a month. */
export interface Notice {
  organizationId: string;
  budgetId: string;
  month: string;
  threshold: Threshold;
  createdAt: number;
  /** How often its delivery was tried. */
  attempts: number;
  /** Undefined: nothing is left to do. */
  nextAttemptAt: number | undefined;
  /** The same for every attempt, so that a receiver can tell a repetition. */
  deliveryId: string;
  /** What is sent; made once. */
  body: string;
  delivery: 'none' | 'pending' | 'delivered' | 'failed';
}

/** Those thresholds that the month has reached. `expected` is its end as forecast, where anybody asks for it. */
export function reached(
  { monthlyMicros, thresholds }: Pick<Budget, 'monthlyMicros' | 'thresholds'>,
  spent: number,
  expected: number | undefined,
): Threshold[] {
  return thresholds.filter((threshold) =>
    threshold === 'forecast'
      ? expected !== undefined && expected >= monthlyMicros
      : spent * 100 >= threshold * monthlyMicros,
  );
}

/** Seconds until the next attempt, by how many there were; a day in all, then we give up. */
const BACK_OFF_SECONDS = [10, 30, 60, 300, 900, 3600, 10_800, 21_600, 43_200];

export function backOffMs(attempts: number): number | undefined {
  const seconds = BACK_OFF_SECONDS[attempts - 1];
  return seconds === undefined ? undefined : seconds * 1000;
}

const MAX_URL_LENGTH = 2048;

/** What is wrong with the address of a webhook; names are looked up only when something is sent. */
export function webhookMistake(text: string, { allowPrivate }: { allowPrivate: boolean }): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return 'The value must be an http or https address';
  if (text.length > MAX_URL_LENGTH) return `The value must have at most ${MAX_URL_LENGTH} characters`;
  if (url.username !== '' || url.password !== '') return 'The value must not hold a user name or password';
  const host = hostOf(url);
  const isLiteral = /^[\d.]+$/.test(host) || host.includes(':');
  return isLiteral ? reachMistake(host, allowPrivate) : undefined;
}

/** Without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** What is wrong with sending to this address; see `reachOf`. */
export function reachMistake(address: string, allowPrivate: boolean): string | undefined {
  const reach = classifyAddress(address);
  if (reach === 'public' || (reach === 'private' && allowPrivate)) return undefined;
  return reach === 'private'
    ? 'The address is private; --webhook-allow-private yes would permit it'
    : 'The address is link-local, reserved or a metadata service, and is never called';
}
