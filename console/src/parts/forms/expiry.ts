/** The choices for the expiry of a key or token. `keep`: the current expiry. */
export const EXPIRIES = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
  { value: 'at', label: 'At a specific time' },
  { value: 'never', label: 'Never' },
] as const;
export type Expiry = (typeof EXPIRIES)[number]['value'] | 'keep';

const DAY_MS = 86_400_000;

/** `expireAt` is the value of a `datetime-local` field, in the local time zone. Undefined means never, or no change. */
export function toExpireAt({ expiry, expireAt }: { expiry: Expiry; expireAt: string }, now: Date): string | undefined {
  if (expiry === 'never' || expiry === 'keep') return undefined;
  if (expiry !== 'at') return new Date(now.getTime() + Number(expiry) * DAY_MS).toISOString();
  const time = new Date(expireAt);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

export const isFutureTime = (expireAt: string, now: Date): boolean => new Date(expireAt).getTime() > now.getTime();
