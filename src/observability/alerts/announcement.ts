import { DAY_MS, MINUTE_MS } from '../../kernel/time/clock.ts';
import { findZone, localDay } from '../../kernel/time/zone.ts';
import { DAY_NAMES, type QuietHours } from './alert-schema.ts';
import type { GroupState, Groups } from './judgment.ts';

/** What decides whether something is sent now. */
export interface Announcing {
  /** In milliseconds; 0 never repeats. */
  repeatMs: number;
  /** Nothing is sent while an alert is silenced or has quiet hours. */
  isMuted: boolean;
  /** A person has seen it: what fired before is not repeated. */
  acknowledgedAt: number | undefined;
  /** The ids of the channels that the alert has now. */
  channels: readonly string[];
}

export interface Announcement {
  kind: 'firing' | 'no_data' | 'resolved';
  /** The ids of the channels that it is sent to. */
  channels: readonly string[];
  /** Repetitions are counted from then. */
  at: number;
}

/**
 * What has to be sent about a group: the difference between its state and what was last sent. What happened meanwhile,
 * while the alert was silenced or the server did not run, is not sent one by one. It is resolved wherever it was sent,
 * also if the alert does not have the channel any more; a channel that the alert did not have before is told what fires.
 */
export function findAnnouncement(
  { status, announced }: GroupState,
  { repeatMs, isMuted, acknowledgedAt, channels }: Announcing,
  nowMs: number,
): Announcement | undefined {
  if (isMuted) return undefined;
  if (status === 'ok') return announced && { kind: 'resolved', channels: announced.channels ?? channels, at: nowMs };
  if (status === 'pending') return undefined;
  if (announced?.status !== status) return { kind: status, channels, at: nowMs };
  if (acknowledgedAt !== undefined && acknowledgedAt >= announced.at) return undefined;
  // Also after the clock was set back.
  const isOld = Math.abs(nowMs - announced.at) >= repeatMs;
  if (repeatMs > 0 && isOld) return { kind: status, channels, at: nowMs };
  const added = without(channels, announced.channels ?? channels);
  return added.length > 0 ? { kind: status, channels: added, at: announced.at } : undefined;
}

/** The state with what was sent. */
export const markAnnounced = (
  state: GroupState,
  { kind, channels, at }: Announcement,
  isShared: boolean,
): GroupState => ({
  ...state,
  announced:
    kind === 'resolved'
      ? undefined
      : { status: kind, at, isShared, channels: union(state.announced?.channels ?? [], channels) },
});

export const without = (list: readonly string[], removed: readonly string[]): string[] =>
  list.filter((one) => !removed.includes(one));

/** The same list if nothing is added: an alert can have 10,000 groups. */
export function union(list: readonly string[], more: readonly string[]): readonly string[] {
  const added = without(more, list);
  return added.length === 0 ? list : [...list, ...added];
}

/** A group is ok again, and that was not sent because of a silence or quiet hours. */
export const isResolutionUnsent = (groups: Groups): boolean =>
  [...groups.values()].some(({ status, announced }) => status === 'ok' && announced !== undefined);

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
