import { DAY_MS, MINUTE_MS } from '../../kernel/time/clock.ts';
import { findZone, localDay } from '../../kernel/time/zone.ts';
import { DAY_NAMES, type QuietHours } from './alert-schema.ts';
import type { GroupState } from './judgment.ts';

/** What decides whether something is sent now. */
export interface Announcing {
  /** In milliseconds; 0 never repeats. */
  repeatMs: number;
  /** Nothing is sent while an alert is silenced or has quiet hours. */
  isMuted: boolean;
  /** A person has seen it: what fired before is not repeated. */
  acknowledgedAt: number | undefined;
}

export type Announcement = 'firing' | 'no_data' | 'resolved';

/**
 * What has to be sent about a group: the difference between its state and what was last sent. What happened meanwhile,
 * while the alert was silenced or the server did not run, is not sent one by one.
 */
export function findAnnouncement(
  { status, announced }: GroupState,
  { repeatMs, isMuted, acknowledgedAt }: Announcing,
  nowMs: number,
): Announcement | undefined {
  if (isMuted) return undefined;
  if (status === 'ok') return announced ? 'resolved' : undefined;
  if (status === 'pending') return undefined;
  if (announced?.status !== status) return status;
  const isAcknowledged = acknowledgedAt !== undefined && acknowledgedAt >= announced.at;
  // Also after the clock was set back.
  const isOld = Math.abs(nowMs - announced.at) >= repeatMs;
  return repeatMs > 0 && !isAcknowledged && isOld ? status : undefined;
}

/** The state with what was sent. */
export const markAnnounced = (
  state: GroupState,
  sent: Announcement,
  { at, isShared }: { at: number; isShared: boolean },
): GroupState => ({
  ...state,
  announced: sent === 'resolved' ? undefined : { status: sent, at, isShared },
});

/** Whether a time is within quiet hours. */
export function isQuiet({ timezone, ranges }: QuietHours, nowMs: number): boolean {
  const zone = findZone(timezone);
  if (!zone) return false;
  const minute = Math.floor(((((nowMs + zone.offsetAt(nowMs)) % DAY_MS) + DAY_MS) % DAY_MS) / MINUTE_MS);
  const today = localDay(zone, nowMs);
  // 1970-01-01 was a Thursday.
  const nameDay = (day: number) => DAY_NAMES[(((day + 3) % 7) + 7) % 7];
  const startsOn = (day: number, { days }: QuietHours['ranges'][number]) =>
    days === undefined || days.includes(nameDay(day) as (typeof DAY_NAMES)[number]);
  return ranges.some((range) => {
    const [start, end] = [toMinute(range.start), toMinute(range.end)];
    if (start < end) return startsOn(today, range) && minute >= start && minute < end;
    return (startsOn(today, range) && minute >= start) || (startsOn(today - 1, range) && minute < end);
  });
}

const toMinute = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
