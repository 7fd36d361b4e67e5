import type { Key } from '../api/types.ts';

export const EXPIRY_WARNING_DAYS = 30;
const DAY_MS = 86_400_000;

export type KeyState = 'enabled' | 'disabled' | 'expired';

/** A disabled key counts as disabled even after it has expired. */
export function toKeyState({ state, expireAt }: Key, now: Date): KeyState {
  if (state === 'disabled') return 'disabled';
  return expireAt !== null && Date.parse(expireAt) <= now.getTime() ? 'expired' : 'enabled';
}

/** Within 30 days, and for a week after the expiry, which explains failing requests. */
export function isExpiringSoon(expireAt: string, now: Date): boolean {
  const days = (Date.parse(expireAt) - now.getTime()) / DAY_MS;
  return days < EXPIRY_WARNING_DAYS && days > -7;
}

/** Enabled keys that expire soon or have expired recently. */
export const isKeyExpiringSoon = ({ state, expireAt }: Key, now: Date): boolean =>
  state === 'enabled' && expireAt !== null && isExpiringSoon(expireAt, now);
