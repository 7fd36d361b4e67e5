import { describe, expect, it } from 'vitest';
import type { ScheduleEntry } from '../service-settings.ts';
import { getEffectiveScaling } from './schedule.ts';

const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];
const scaling = {
  numReplicas: 3,
  minReplicaMemoryGb: 16,
  maxReplicaMemoryGb: 120,
  idleScaling: true,
  idleTimeoutMinutes: 15,
};

const entry = (startHourUtc: number, endHourUtc: number, more: Partial<ScheduleEntry> = {}): ScheduleEntry => ({
  id: 'id',
  name: 'window',
  weekdays: EVERY_DAY,
  startHourUtc,
  endHourUtc,
  minReplicaMemoryGb: 48,
  maxReplicaMemoryGb: 48,
  ...more,
});

const isActive = (window: ScheduleEntry, time: string): boolean =>
  getEffectiveScaling({ scaling, settings: { scalingSchedule: [window] } }, Date.parse(time)).activeEntry !== undefined;

/** The UTC times at which the window starts and ends, to the quarter of an hour. */
function listChanges(window: ScheduleEntry, from: string, to: string): string[] {
  const changes: string[] = [];
  let before = isActive(window, from);
  for (let now = Date.parse(from); now < Date.parse(to); now += 15 * 60_000) {
    const time = new Date(now).toISOString();
    const active = isActive(window, time);
    if (active !== before) changes.push(`${active ? 'start' : 'end'} ${time.slice(5, 16)}`);
    before = active;
  }
  return changes;
}

describe('a window without a time zone', () => {
  it('is in UTC, and continues after midnight', () => {
    expect(listChanges(entry(22, 2), '2026-03-28T12:00Z', '2026-03-30T12:00Z')).toEqual([
      'start 03-28T22:00',
      'end 03-29T02:00',
      'start 03-29T22:00',
      'end 03-30T02:00',
    ]);
  });
});

describe('a window in a time zone', () => {
  const list = (timeZone: string, hours: [number, number], days: [string, string], weekdays = EVERY_DAY) =>
    listChanges(entry(...hours, { timeZone, weekdays }), `2026-${days[0]}T12:00Z`, `2026-${days[1]}T12:00Z`);

  it('follows the local clock through the year', () => {
    expect(list('Europe/Berlin', [8, 18], ['01-14', '01-15'])).toEqual(['end 01-14T17:00', 'start 01-15T07:00']);
    expect(list('Europe/Berlin', [8, 18], ['07-14', '07-15'])).toEqual(['end 07-14T16:00', 'start 07-15T06:00']);
    expect(list('Asia/Kathmandu', [8, 18], ['07-14', '07-15'])).toEqual(['end 07-14T12:15', 'start 07-15T02:15']);
  });

  it('uses the weekday of the zone', () => {
    // Monday in Auckland starts on Sunday at 11:00 UTC in summer.
    expect(list('Pacific/Auckland', [0, 24], ['01-10', '01-13'], [1])).toEqual([
      'start 01-11T11:00',
      'end 01-12T11:00',
    ]);
  });

  // The clocks go from 02:00 to 03:00 in Berlin at 01:00 UTC, and in Sydney at 16:00 UTC of the day before.
  it.each([
    [
      'northern spring: starts in the gap',
      'Europe/Berlin',
      [2, 5],
      ['03-28', '03-29'],
      ['start 03-29T01:00', 'end 03-29T03:00'],
    ],
    [
      'northern spring: ends in the gap',
      'Europe/Berlin',
      [1, 2],
      ['03-28', '03-29'],
      ['start 03-29T00:00', 'end 03-29T01:00'],
    ],
    ['northern spring: all of it in the gap', 'Europe/Berlin', [2, 3], ['03-28', '03-29'], []],
    [
      'northern spring: across midnight',
      'Europe/Berlin',
      [22, 6],
      ['03-28', '03-29'],
      ['start 03-28T21:00', 'end 03-29T04:00'],
    ],
    [
      'northern autumn: the repeated hour is in it twice',
      'Europe/Berlin',
      [2, 3],
      ['10-24', '10-25'],
      ['start 10-25T00:00', 'end 10-25T02:00'],
    ],
    [
      'northern autumn: ends before the repeated hour',
      'Europe/Berlin',
      [1, 2],
      ['10-24', '10-25'],
      ['start 10-24T23:00', 'end 10-25T00:00'],
    ],
    [
      'northern autumn: across midnight',
      'Europe/Berlin',
      [22, 6],
      ['10-24', '10-25'],
      ['start 10-24T20:00', 'end 10-25T05:00'],
    ],
    [
      'southern spring: starts in the gap',
      'Australia/Sydney',
      [2, 5],
      ['10-03', '10-04'],
      ['start 10-03T16:00', 'end 10-03T18:00'],
    ],
    ['southern spring: all of it in the gap', 'Australia/Sydney', [2, 3], ['10-03', '10-04'], []],
    [
      'southern autumn: the repeated hour is in it twice',
      'Australia/Sydney',
      [2, 3],
      ['04-04', '04-05'],
      ['start 04-04T15:00', 'end 04-04T17:00'],
    ],
    // Lord Howe changes by half an hour.
    [
      'half an hour: starts in the gap',
      'Australia/Lord_Howe',
      [2, 4],
      ['10-03', '10-04'],
      ['start 10-03T15:30', 'end 10-03T17:00'],
    ],
    // In New York, 02:00 to 03:00 is skipped at 07:00 UTC and 01:00 to 02:00 repeated at 06:00 UTC.
    ['New York, spring', 'America/New_York', [1, 4], ['03-07', '03-08'], ['start 03-08T06:00', 'end 03-08T08:00']],
    ['New York, autumn', 'America/New_York', [1, 4], ['10-31', '11-01'], ['start 11-01T05:00', 'end 11-01T09:00']],
  ] as [string, string, [number, number], [string, string], string[]][])('%s', (_, zone, hours, days, changes) => {
    expect(list(zone, hours, days)).toEqual(changes);
  });

  it('says until when the settings apply', () => {
    const at = (window: ScheduleEntry, time: string) =>
      new Date(getEffectiveScaling({ scaling, settings: { scalingSchedule: [window] } }, Date.parse(time)).until);
    expect(at(entry(1, 2), '2026-01-01T00:20Z')).toEqual(new Date('2026-01-01T01:00Z'));
    expect(at(entry(1, 2, { timeZone: 'Asia/Kathmandu' }), '2026-01-01T00:20Z')).toEqual(new Date('2026-01-01T00:30Z'));
  });
});
