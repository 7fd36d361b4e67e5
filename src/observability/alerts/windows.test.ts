import { describe, expect, it } from 'vitest';
import { findNextEvaluation, findWindowStart, listDueWindows, type Schedule } from './windows.ts';

const at = (time: string): number => Date.parse(`2026-11-18T${time}Z`);
const schedule: Schedule = {
  interval: '5m',
  scheduleOffsetMinutes: 0,
  scheduleStartAt: null,
  evaluationDelaySeconds: 15,
};

describe('windows', () => {
  it('are aligned with the epoch, an offset or a start', () => {
    expect(findWindowStart(schedule, at('10:04:59'))).toBe(at('10:00:00'));
    expect(findWindowStart({ ...schedule, scheduleOffsetMinutes: 2 }, at('10:01:59'))).toBe(at('09:57:00'));
    expect(findWindowStart({ ...schedule, scheduleStartAt: at('09:33:20') }, at('10:00:00'))).toBe(at('09:58:20'));
    expect(findWindowStart({ ...schedule, interval: '1d' }, at('10:00:00'))).toBe(at('00:00:00'));
  });

  it('are due when they are complete and the delay has passed', () => {
    const due = (now: string) => listDueWindows(schedule, at('10:00:00'), at(now));
    expect(due('10:05:14').count).toBe(0);
    expect(due('10:05:15')).toEqual({ startMs: at('10:00:00'), stepMs: 300_000, count: 1, skipped: 0 });
    expect(findNextEvaluation(schedule, at('10:00:00'))).toBe(at('10:05:15'));
  });

  it('start with the last complete one for a new alert, and never before the start of its schedule', () => {
    expect(listDueWindows(schedule, undefined, at('10:07:00'))).toMatchObject({ startMs: at('10:00:00'), count: 1 });
    const later = { ...schedule, scheduleStartAt: at('10:06:00') };
    expect(listDueWindows(later, undefined, at('10:07:00')).count).toBe(0);
    expect(listDueWindows(later, undefined, at('10:11:15'))).toMatchObject({ startMs: at('10:06:00'), count: 1 });
  });

  it('are limited after a pause: 50, and 6 or 24 hours', () => {
    const due = (interval: Schedule['interval']) =>
      listDueWindows({ ...schedule, interval }, at('10:00:00') - 10 * 86_400_000, at('10:01:00'));
    expect(due('1m')).toMatchObject({ count: 50, skipped: 14_350 });
    expect(due('5m')).toMatchObject({ count: 50, startMs: at('10:00:00') - 50 * 300_000 });
    expect(due('1h').count).toBe(24);
    expect(due('1d')).toMatchObject({ count: 1, skipped: 9 });
  });

  it('continue after the clock was set back', () => {
    expect(listDueWindows(schedule, at('18:00:00'), at('10:07:00'))).toMatchObject({
      startMs: at('10:00:00'),
      count: 1,
    });
    // A clock that is slightly behind waits.
    expect(listDueWindows(schedule, at('10:05:00'), at('10:04:00')).count).toBe(0);
    // Long windows do not hide that the time is a wrong one: the last complete window, and then the one after it.
    const long: Schedule = { ...schedule, interval: '12h' };
    expect(listDueWindows(long, at('12:00:00'), at('11:30:00')).count).toBe(0);
    expect(listDueWindows(long, at('12:00:00'), at('10:00:00'))).toMatchObject({
      startMs: at('00:00:00') - 43_200_000,
      count: 1,
    });
    expect(listDueWindows(long, at('00:00:00'), at('12:01:00'))).toMatchObject({ startMs: at('00:00:00'), count: 1 });
  });
});
