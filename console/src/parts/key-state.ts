import type { Key } from '../api/types.ts';

export const EXPIRY_WARNING_DAYS = 30;
const DAY_MS = 86_400_000;

export type KeyState = 'enabled' | 'disabled' | 'expired';

/** A disabled key counts as disabled even after it has expired. */
export function toKeyState({ state, expireAt }: Key, now: Date): KeyState {
  if (state === 'disabled') return 'disabled';
  return expireAt !== null && Date.parse(expireAt) <= now.getTime() ? 'expired' : 'enabled';
}

/** Enabled keys that expire within 30 days, and for a week after they expired, which explains failing requests. */
export function isExpiringSoon(key: Key, now: Date): boolean {
  if (key.state === 'disabled' || key.expireAt === null) return false;
  const days = (Date.parse(key.expireAt) - now.getTime()) / DAY_MS;
  return days < EXPIRY_WARNING_DAYS && days > -7;
}
