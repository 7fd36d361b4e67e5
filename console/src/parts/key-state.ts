import type { Key } from '../api/types.ts';

export const EXPIRY_WARNING_DAYS = 30;
const DAY_MS = 86_400_000;

export type KeyState = 'enabled' | 'disabled' | 'expired';

/** A disabled key that has also expired is called disabled: that is what somebody decided. */
export function toKeyState({ state, expireAt }: Key, now: Date): KeyState {
  if (state === 'disabled') return 'disabled';
  return expireAt !== null && Date.parse(expireAt) <= now.getTime() ? 'expired' : 'enabled';
}

/** In use, and gone within the month; for a week after it is gone, so that nobody has to guess why calls fail. */
export function isExpiringSoon(key: Key, now: Date): boolean {
  if (key.state === 'disabled' || key.expireAt === null) return false;
  const days = (Date.parse(key.expireAt) - now.getTime()) / DAY_MS;
  return days < EXPIRY_WARNING_DAYS && days > -7;
}
